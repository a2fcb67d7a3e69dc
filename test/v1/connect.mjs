// SPDX-License-Identifier: MIT
// A connection and a client by what a command line says of them: the address of a server as
// EchoMQ writes it, and which of the installed versions.
import { Redis } from 'ioredis';

export function connect(url) {
  const options = { maxRetriesPerRequest: null };
  return url.startsWith('unix://') ? new Redis(decodeURIComponent(url.slice('unix://'.length)), options) : new Redis(url, options);
}

export const clients = { measured: 'bullmq', oldest: 'bullmq-oldest', newest: 'bullmq-newest' };

export async function client(which) {
  if (!clients[which]) throw new Error(`no such client: ${which}; there are ${Object.keys(clients).join(', ')}`);
  return import(clients[which]);
}

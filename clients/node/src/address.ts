// SPDX-License-Identifier: MIT
// Where the server is: a url in the forms of the C++ library, or options of ioredis.
import type { RedisOptions } from 'ioredis';

import { EchoMQError } from './error.js';

export interface Address {
  shown: string; // without the password
  redis: RedisOptions;
  user: string;
  password: string;
  db: number;
}

const SCHEMES: Record<string, boolean> = { redis: false, valkey: false, rediss: true, valkeys: true };

function badUrl(url: string, problem: string): EchoMQError {
  // A url may hold a password, so what is shown of it ends before that.
  return new EchoMQError('invalid_url', `the url of the server ${problem}`, { scheme: url.split(':')[0] });
}

function database(url: string, text: string): number {
  if (text === '') return 0;
  const db = Number(text);
  if (!/^\d{1,10}$/.test(text) || db > 2 ** 31 - 1) throw badUrl(url, `has the database ${text}; expected a number`);
  return db;
}

function decoded(url: string, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badUrl(url, 'has a % that is not followed by two hexadecimal digits');
  }
}

// unix://[[user]:password@]/path/to/socket[?db=N], which has no host, so URL does not read it.
function parseUnixUrl(url: string): Address {
  const parts = /^unix:\/\/(?:([^:@/]*)(?::([^@]*))?@)?(\/[^?#]+)(?:\?db=([^&#]*))?$/.exec(url);
  if (!parts) throw badUrl(url, 'is none of unix://[[user]:password@]/path/to/socket[?db=N]');
  const [user, password, path] = parts.slice(1, 4).map((part) => decoded(url, part ?? ''));
  return { shown: `unix://${path}`, redis: { path }, user, password, db: database(url, parts[4] ?? '') };
}

function parseUrl(url: string): Address {
  if (url.startsWith('unix:')) return parseUnixUrl(url);
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw badUrl(url, 'cannot be read; expected redis://host:port/db or unix:///path?db=N');
  }
  const scheme = parsed.protocol.slice(0, -1);
  const user = decoded(url, parsed.username);
  const password = decoded(url, parsed.password);
  if (!(scheme in SCHEMES))
    throw badUrl(url, `begins with ${scheme}:; expected redis, rediss, valkey, valkeys or unix`);
  const host = parsed.hostname.replace(/^\[|\]$/g, '') || '127.0.0.1';
  const port = Number(parsed.port || 6379);
  const db = database(url, parsed.pathname.replace(/^\//, ''));
  const tls = SCHEMES[scheme] ? { tls: { servername: host } } : {};
  return { shown: `${scheme}://${host}:${port}/${db}`, redis: { host, port, ...tls }, user, password, db };
}

export function addressOf(server: string | RedisOptions): Address {
  if (typeof server === 'string') return parseUrl(server);
  const { username = '', password = '', db = 0, ...redis } = server;
  const shown = redis.path
    ? `unix://${redis.path}`
    : `redis://${redis.host ?? '127.0.0.1'}:${redis.port ?? 6379}/${db}`;
  return { shown, redis, user: username ?? '', password: password ?? '', db };
}

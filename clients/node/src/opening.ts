// SPDX-License-Identifier: MIT
// Opening: this side of the boot fence (docs/protocol.md, section 4.2). Before the first transition of a
// process on a queue it looks for the queue's v1 keys, lets queue/open make or prove the queue, and enters it in
// {emq}:queues.
import type { ClientCore } from './client.js';
import { ErrorReply } from './connection.js';
import { revision, wireVersion } from './generated/scripts.js';
import { QueueKeys, reserveKey } from './keyspace.js';
import { fenceRefusal, refusal } from './refusal.js';
import { textOf } from './reply.js';
import { ScriptCall } from './script_call.js';
import { type V1Look, v1Looks } from './v1_names.js';

const EVENT_CAP = 10_000;

export async function openQueue(client: ClientCore, queue: string, keys: QueueKeys): Promise<void> {
  await Promise.all(v1Looks(client.options.v1Prefixes, queue).map((one) => look(client, queue, one)));
  const call = new ScriptCall('queue/open', keys, { revision, now: client.nowMs(), event_cap: EVENT_CAP });
  await client.call(call, queue, keys.meta);
  // The list of queues is for people; where it cannot be written the queue works all the same.
  await client.command('zadd', [reserveKey('queues'), String(client.nowMs()), queue]).catch(() => undefined);
}

async function look(client: ClientCore, queue: string, { key, words }: V1Look): Promise<void> {
  const [command, ...rest] = words;
  const version = command === 'hget';
  let found: string;
  try {
    found = textOf(await client.command(command, rest));
  } catch (error) {
    // A key that an ACL denies to look at is "unknown". Only then, and where a string stands in the place of
    // `meta`, may an error reply pass: the fence must not fall with the server.
    if (!(error instanceof ErrorReply)) throw error;
    if (/^(NOPERM|WRONGTYPE)/.test(error.message)) return;
    throw refusal(error.message, queue, key);
  }
  if (version && found !== '') throw fenceRefusal(queue, found, wireVersion, key);
  // A string is what a migration leaves (a tombstone), or a v1 counter beside nothing else.
  if (!version && !['', 'none', 'string'].includes(found))
    throw fenceRefusal(queue, `a v1 queue (${found})`, wireVersion, key);
}

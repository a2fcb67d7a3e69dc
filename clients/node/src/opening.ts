// SPDX-License-Identifier: MIT
// Opening: this side of the boot fence (docs/protocol.md, section 4.2). Before the first transition of a
// process on a queue it looks for the queue's unbraced v1 keys, lets queue/open make or prove the queue, and
// enters it in {emq}:queues.
import type { ClientCore } from './client.js';
import { ErrorReply } from './connection.js';
import { revision, wireVersion } from './generated/scripts.js';
import { QueueKeys, reserveKey, v1Key } from './keyspace.js';
import { fenceRefusal, refusal } from './refusal.js';
import { textOf } from './reply.js';
import { ScriptCall } from './script_call.js';

const EVENT_CAP = 10_000;
// What a v1 client leaves of a queue. `meta` names the version; after a migration it is a string.
const V1_SUFFIXES = ['meta', 'id', 'wait', 'active', 'paused', 'delayed', 'prioritized', 'completed', 'failed'];

export async function openQueue(client: ClientCore, queue: string, keys: QueueKeys): Promise<void> {
  await Promise.all(
    client.options.v1Prefixes.flatMap((prefix) => [
      look(client, queue, v1Key(prefix, queue, 'meta'), true),
      ...V1_SUFFIXES.map((suffix) => look(client, queue, v1Key(prefix, queue, suffix), false)),
    ]),
  );
  const call = new ScriptCall('queue/open', keys, { revision, now: client.nowMs(), event_cap: EVENT_CAP });
  await client.call(call, queue, keys.meta);
  // The list of queues is for people; where it cannot be written the queue works all the same.
  await client.command('zadd', [reserveKey('queues'), String(client.nowMs()), queue]).catch(() => undefined);
}

async function look(client: ClientCore, queue: string, key: string, version: boolean): Promise<void> {
  let found: string;
  try {
    found = textOf(await (version ? client.command('hget', [key, 'version']) : client.command('type', [key])));
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

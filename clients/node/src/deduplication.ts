// SPDX-License-Identifier: MIT
// Deduplication ids whose owners are over (docs/protocol.md, section 5.14): freeing them adds what was kept
// for that end. Nothing depends on it but time: a sweep of any worker finds what nobody freed.
import type { QueueCore } from './queue_core.js';
import { revision } from './generated/scripts.js';
import { isMintedId } from './id.js';
import { jobKey, subKeys } from './keyspace.js';
import { itemsOf, statusOf, textOf, textsOf } from './reply.js';
import { ScriptCall } from './script_call.js';

const OWNERS_PER_CALL = 128;
const LOOKS = 5; // at an entry that is another one each time

export interface OwnedId {
  de: string;
  owner: string;
  kept: string; // the id of the add that is kept; empty: none
}

function endCall(queue: QueueCore, ids: readonly OwnedId[]) {
  const now = queue.client.nowMs();
  const call = new ScriptCall('deduplication/end', queue.keys, { revision, now, count: ids.length, force: false });
  for (const { de, owner, kept } of ids) {
    const next = kept === '' ? owner : kept;
    const custom = kept !== '' && !isMintedId(kept);
    call.itemKeys({ owner: jobKey(queue.name, owner), job: jobKey(queue.name, next) });
    if (custom) call.moreKeys(subKeys(queue.name, next));
    call.itemArgs({ de, owner, kept, custom });
  }
  return call;
}

// Those that did not fit into one call, or of which another add was kept meanwhile, go on in the next one.
export async function endOwned(queue: QueueCore, ids: readonly OwnedId[]): Promise<void> {
  let left = ids;
  for (let looks = 0; left.length > 0 && looks < LOOKS;) {
    const some = left.slice(0, OWNERS_PER_CALL);
    const again: OwnedId[] = left.slice(OWNERS_PER_CALL);
    const [statuses, told] = itemsOf(await queue.call(endCall(queue, some)));
    const who = textsOf(told);
    let freed = false;
    some.forEach((id, i) => {
      const status = statusOf(statuses, i);
      freed ||= status === 'ok' || status === 'dup';
      if (status === 'moved' && who[2 * i] === id.owner) again.push({ ...id, kept: who[2 * i + 1] });
    });
    looks = freed ? 0 : looks + 1;
    left = again;
  }
}

// What is owned for a time holds without its owner from now on: said before the end, which may delete the job.
export function holdCall(queue: QueueCore, ids: ReadonlyArray<{ de: string; owner: string }>) {
  const call = new ScriptCall('deduplication/hold', queue.keys, { revision, count: ids.length });
  for (const id of ids) call.itemArgs(id);
  return call;
}

// Entries of `de` whose time to be looked at has come. One without an entry is named too, as nobody's: then its
// time is removed.
export async function dueOwned(queue: QueueCore): Promise<OwnedId[]> {
  const { client, keys } = queue;
  const limit = ['LIMIT', '0', String(OWNERS_PER_CALL)];
  const due = textsOf(await client.command('zrangebyscore', [keys.de_due, '-inf', String(client.nowMs()), ...limit]));
  if (due.length === 0) return [];
  const entries = itemsOf(await client.command('hmget', [keys.de, ...due]));
  return due.map((de, i) => {
    const parts = /^([^:]+):\d+:[01]:([^:]*)$/.exec(textOf(entries[i]));
    return parts ? { de, owner: parts[1], kept: parts[2] } : { de, owner: '-', kept: '' };
  });
}

// SPDX-License-Identifier: MIT
// What every worker of a queue does for all of them: promotes delayed jobs, takes jobs back from dead workers
// and deletes what retention took. Each looks first by a plain bounded read and then says a script with the keys
// of what it saw, which acts only where that is still so (docs/protocol.md, section 5.2). What fails is found
// again by the next look.
import { MAX_BATCH_JOBS } from './add_batcher.js';
import { OwnedId, dueOwned, endOwned } from './deduplication.js';
import { revision } from './generated/scripts.js';
import { jobKey, subKeys } from './keyspace.js';
import { expiredBelow } from './lease.js';
import { monotonicMs } from './monotonic.js';
import { Keep } from './options.js';
import type { QueueCore } from './queue_core.js';
import { Relay, readMessages } from './relay.js';
import { Reply, buffersOf, idsOf, itemsOf, numberOf, scoredOf, statusOf, textsOf } from './reply.js';
import { ScriptCall } from './script_call.js';

const RETRY_MS = 1_000; // after a promotion that failed
const EVICTED_PER_CALL = 128;
const NO_COUNT = -1;
// By then every process that lost the same server has found it again and renewed its leases.
const OTHERS_RETURN_MS = 2_500;

// Makes due jobs ready. Answers whether more may be due, or when to look again (0: the timer stands in the
// marker).
export async function promote(queue: QueueCore): Promise<{ moreDue: boolean; againMs: number }> {
  const { client, keys, name } = queue;
  try {
    const range = [keys.delayed, '0', String(MAX_BATCH_JOBS - 1), 'WITHSCORES'];
    const earliest = scoredOf(await client.command('zrange', range));
    const now = client.nowMs();
    const due = earliest.filter((entry) => entry.score <= now);
    // Someone else was here first: keep the time of the next one.
    if (due.length === 0) return { moreDue: false, againMs: earliest[0]?.score ?? 0 };
    const call = new ScriptCall('job/promote', keys, { revision, now, count: due.length });
    for (const { member, score } of due)
      call.itemKeys({ job: jobKey(name, member) }).itemArgs({ id: member, due: score });
    await queue.call(call);
    return { moreDue: due.length === MAX_BATCH_JOBS, againMs: 0 };
  } catch {
    return { moreDue: false, againMs: client.nowMs() + RETRY_MS };
  }
}

export class Evictor {
  private backlog: Array<{ id: string; hasSubkeys: boolean }> = [];
  private inFlight = false;

  constructor(
    private readonly queue: QueueCore,
    private readonly keepCompleted: Required<Keep>,
    private readonly keepFailed: Required<Keep>,
  ) {}

  // The parts of an answer: statuses, the ids that went to trash, those of them that have sub-keys.
  push(reply: readonly Reply[]): void {
    const withSubkeys = new Set(textsOf(reply[2]));
    for (const id of idsOf(reply[1])) this.backlog.push({ id, hasSubkeys: withSubkeys.has(id) });
    void this.pump();
  }

  // What a crash left in trash; and ages, which hold on idle queues too.
  async sweep(): Promise<void> {
    if (this.inFlight || this.backlog.length > 0) return;
    const { client, keys } = this.queue;
    const page = itemsOf(await client.command('sscan', [keys.trash, '0', 'COUNT', '100']));
    const ids = textsOf(page[1]).slice(0, EVICTED_PER_CALL);
    const has = ids.length === 0 ? [] : itemsOf(await client.command('smismember', [keys.subkeys, ...ids]));
    await this.send(ids.map((id, i) => ({ id, hasSubkeys: numberOf(has[i]) === 1 })));
  }

  private async pump(): Promise<void> {
    if (this.inFlight) return;
    this.inFlight = true;
    try {
      // One that a call leaves in trash is left to the next sweep.
      while (this.backlog.length > 0) await this.send(this.backlog.splice(0, EVICTED_PER_CALL));
    } catch {
      this.backlog = [];
    } finally {
      this.inFlight = false;
    }
  }

  private async send(jobs: Array<{ id: string; hasSubkeys: boolean }>): Promise<void> {
    const { client, keys, name } = this.queue;
    const call = new ScriptCall('job/evict', keys, {
      revision,
      now: client.nowMs(),
      count: jobs.length,
      keep_completed: NO_COUNT,
      age_completed: this.keepCompleted.age * 1_000,
      keep_failed: NO_COUNT,
      age_failed: this.keepFailed.age * 1_000,
      more: jobs.some((job) => job.hasSubkeys) ? jobs.map((job) => (job.hasSubkeys ? '1' : '0')).join('') : '',
    });
    for (const { id, hasSubkeys } of jobs) {
      call.itemKeys({ job: jobKey(name, id) });
      if (hasSubkeys) call.moreKeys(subKeys(name, id));
      call.itemArgs({ id });
    }
    const reply = itemsOf(await this.queue.call(call));
    if (idsOf(reply[1]).length > 0) this.push(reply);
  }
}

// Frees the deduplication ids of jobs that are over.
export class Releaser {
  private calls = 0;

  constructor(
    private readonly queue: QueueCore,
    private readonly ended: () => void,
  ) {}

  get idle(): boolean {
    return this.calls === 0;
  }

  // No answer, no harm: their times are still in `de:due`, and a sweep finds them.
  push(ids: readonly OwnedId[]): void {
    if (ids.length === 0) return;
    ++this.calls;
    void endOwned(this.queue, ids)
      .catch(() => undefined)
      .then(() => {
        --this.calls;
        this.ended();
      });
  }

  async sweep(): Promise<void> {
    this.push(await dueOwned(this.queue));
  }
}

// Takes jobs back from workers that are gone (docs/protocol.md, section 5.4): those whose lease was seen expired
// and is so still, unchanged, after a renewal interval of unbroken contact.
export class Sweeper {
  private suspects = new Map<string, number>();
  private contact = -1;
  private contactSince = 0;
  private looking = false;

  constructor(
    private readonly queue: QueueCore,
    private readonly maxCrashes: number,
    private readonly keepFailed: Required<Keep>,
    private readonly evictor: Evictor,
    private readonly releaser: Releaser,
    private readonly relay: Relay,
    private readonly recovered: (jobs: number) => void,
  ) {}

  // Once every renewal interval.
  async tick(): Promise<void> {
    const { client, keys } = this.queue;
    if (this.looking || !client.connected) return;
    if (this.contact !== client.contact) {
      this.suspects.clear();
      this.contact = client.contact;
      this.contactSince = monotonicMs();
    }
    if (monotonicMs() - this.contactSince < OTHERS_RETURN_MS) return;
    this.looking = true;
    try {
      const below = `(${expiredBelow(client.nowMs())}`;
      const limit = ['WITHSCORES', 'LIMIT', '0', String(MAX_BATCH_JOBS)];
      const found = scoredOf(await client.command('zrangebyscore', [keys.active, '-inf', below, ...limit]));
      if (this.contact !== client.contact) return this.suspects.clear();
      const unchanged = found.filter(({ member, score }) => this.suspects.get(member) === score);
      this.suspects = new Map(
        found.filter((entry) => !unchanged.includes(entry)).map(({ member, score }) => [member, score]),
      );
      if (unchanged.length > 0) await this.recover(unchanged);
    } catch {
      this.suspects.clear();
    } finally {
      this.looking = false;
    }
  }

  private async recover(expired: Array<{ member: string; score: number }>): Promise<void> {
    const { client, keys, name } = this.queue;
    const call = new ScriptCall('job/recover', keys, {
      revision,
      now: client.nowMs(),
      count: expired.length,
      max_crashes: this.maxCrashes,
      keep_failed: this.keepFailed.count,
      age_failed: this.keepFailed.age * 1_000,
      bytes_failed: this.keepFailed.bytes,
    });
    for (const { member, score } of expired)
      call.itemKeys({ job: jobKey(name, member) }).itemArgs({ id: member, lease: score });
    const reply = itemsOf(await this.queue.call(call));
    this.evictor.push(reply);
    const told = textsOf(reply[3]);
    const owned: OwnedId[] = [];
    for (let i = 0; i + 1 < told.length; i += 2) owned.push({ de: told[i], owner: told[i + 1], kept: '' });
    this.releaser.push(owned);
    this.recovered(expired.filter((_, i) => ['ok', 'done'].includes(statusOf(reply[0], i))).length);
    await this.relay.push(readMessages(buffersOf(reply[4])));
  }
}

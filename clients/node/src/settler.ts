// SPDX-License-Identifier: MIT
// Settler: tells the server how attempts ended, many together (docs/protocol.md, section 9): at once when idle;
// while a call is in flight, it collects. One in flight, and a second one when it is of another kind or worth
// its price.
import { MAX_BATCH_BYTES, MAX_BATCH_JOBS } from './add_batcher.js';
import { holdCall } from './deduplication.js';
import { EchoMQError, isWeather } from './error.js';
import { revision } from './generated/scripts.js';
import { jobKey } from './keyspace.js';
import { leaseScore } from './lease.js';
import { monotonicMs } from './monotonic.js';
import { Oldest } from './oldest.js';
import { NOT_READY_PAUSE_MS, QueueCore, pauseFor } from './queue_core.js';
import { endsOf } from './record.js';
import { Reply, idsOf, itemsOf, numberOf, statusOf } from './reply.js';
import { ScriptCall } from './script_call.js';
import { Settlement, SettlementKind, endsJob, travelTogether } from './settlement.js';
import { endStatus } from './statuses.js';

const WORTH_A_SECOND_CALL = 32;

export interface SettlerHooks {
  // What the server answered: a status, or `unknown`.
  settled(settlement: Settlement, status: string): void;
  // The parts of an answer of job/finish: ids that went to trash, and messages to parents.
  finished(reply: Reply[]): void;
}

export class Settler {
  private backlog: Settlement[] = [];
  private inFlight: SettlementKind[] = [];
  private stoppedAt?: number;
  private readonly completed = new Oldest(MAX_BATCH_JOBS);
  private readonly failedOnes = new Oldest(MAX_BATCH_JOBS);

  constructor(
    private readonly queue: QueueCore,
    private readonly worker: string,
    private readonly patienceMs: number,
    private readonly hooks: SettlerHooks,
  ) {}

  push(settlement: Settlement): void {
    this.backlog.push(settlement);
  }

  pump(): void {
    while (this.maySend()) {
      const batch = this.take();
      this.inFlight.push(batch[0].kind);
      void this.send(batch);
    }
  }

  // From now on it gives up after a while.
  stop(): void {
    this.stoppedAt ??= monotonicMs();
  }

  get idle(): boolean {
    return this.backlog.length === 0 && this.inFlight.length === 0;
  }

  private maySend(): boolean {
    if (this.backlog.length === 0 || this.inFlight.length >= 2) return false;
    if (this.inFlight.length === 0) return true;
    return this.backlog.length >= WORTH_A_SECOND_CALL || this.inFlight[0] !== this.backlog[0].kind;
  }

  // The first, and all that may travel with it, in order. Releases travel in the order of their claims: the
  // script begins with the last of its call, and each goes in front of the one before.
  private take(): Settlement[] {
    const batch: Settlement[] = [];
    const rest: Settlement[] = [];
    let bytes = 0;
    for (const settlement of this.backlog) {
      const size = settlement.value.length + 128;
      const fits =
        batch.length === 0 ||
        (batch.length < MAX_BATCH_JOBS && bytes + size <= MAX_BATCH_BYTES && travelTogether(batch[0], settlement));
      if (fits) bytes += size;
      (fits ? batch : rest).push(settlement);
    }
    this.backlog = rest;
    if (batch[0].kind === 'release') batch.reverse().sort((a, b) => a.order - b.order);
    return batch;
  }

  private async send(batch: Settlement[]): Promise<void> {
    const { kind } = batch[0];
    const since = monotonicMs();
    let reply: Reply = null;
    let again = false;
    for (;;) {
      try {
        reply = await this.say(batch);
        break;
      } catch (error) {
        // A repeated end is told `done` or `stale`, so saying it again is harmless.
        const weather = error instanceof EchoMQError && isWeather(error);
        const end = this.stoppedAt === undefined ? Infinity : Math.max(this.stoppedAt, since) + this.patienceMs;
        if (weather && monotonicMs() < end && !this.queue.client.closed) {
          if (error.code === 'loading') await pauseFor(NOT_READY_PAUSE_MS);
          again = true;
          continue;
        }
        const what = `the end of ${batch.length} job(s) of "${this.queue.name}" could not be told`;
        this.queue.client.log('error', `${what}: ${(error as Error).message}`);
        break;
      }
    }
    this.inFlight.splice(this.inFlight.indexOf(kind), 1);
    const finish = endsJob(batch[0]) && reply !== null;
    const statuses = finish ? itemsOf(reply)[0] : reply;
    batch.forEach((settlement, i) => this.hooks.settled(settlement, endStatus(statusOf(statuses, i), again)));
    if (finish) this.hooks.finished(itemsOf(reply));
    this.pump();
  }

  private async say(batch: Settlement[]): Promise<Reply> {
    const { kind, keep } = batch[0];
    if (!endsJob(batch[0]))
      return this.queue.call((kind === 'retry' ? this.retryCall(batch) : this.releaseCall(batch)) as ScriptCall);
    this.holdIds(batch);
    const oldest = kind === 'complete' ? this.completed : this.failedOnes;
    const declared = keep.count > 0 ? oldest.take(batch.length) : [];
    const peek = keep.count > 0 ? oldest.peek() : 0;
    try {
      const reply = await this.queue.call(this.finishCall(batch, declared, peek));
      const parts = itemsOf(reply);
      if (keep.count > 0) oldest.seen(declared.length, numberOf(parts[4]), idsOf(parts[3]));
      return reply;
    } catch (error) {
      oldest.lost();
      throw error;
    }
  }

  // In the same write and before the end, which may delete the job: whoever adds under an id that is owned for
  // a time then finds it held.
  private holdIds(batch: Settlement[]): void {
    const ids = batch.flatMap(({ job }) => {
      const rule = job.record.options.deduplication;
      return rule?.ttl === undefined ? [] : [{ de: rule.id, owner: job.id }];
    });
    if (ids.length > 0) void this.queue.call(holdCall(this.queue, ids)).catch(() => undefined);
  }

  private finishCall(batch: Settlement[], oldest: string[], peek: number) {
    const { client, keys, name } = this.queue;
    const complete = batch[0].kind === 'complete';
    const { keep } = batch[0];
    const drop = keep.count === 0;
    const of = {
      ...keys,
      finished: complete ? keys.completed : keys.failed,
      metrics: complete ? keys.metrics_completed : keys.metrics_failed,
      sizes: complete ? keys.sizes_completed : keys.sizes_failed,
    };
    const call = new ScriptCall('job/finish', of, {
      revision,
      now: client.nowMs(),
      count: batch.length,
      outcome: complete ? 'completed' : 'failed',
      by: this.worker,
      drop,
      keep: drop ? -1 : keep.count,
      age: keep.age * 1_000,
      bytes: keep.bytes,
      ends: endsOf(
        batch.map(({ job, attemptsStarted, attemptsMade, value, startedMs }) => ({
          lease: leaseScore(job.held),
          claimsEnded: attemptsStarted,
          attemptsMade,
          crashes: job.crashes,
          startedMs,
          value,
        })),
      ),
      oldest: oldest.join(' '),
      peek,
      parents: batch[0].job.parent !== '',
    });
    for (const { job } of batch) call.itemKeys({ job: jobKey(name, job.id) }).itemArgs({ id: job.id });
    for (const id of oldest) call.itemKeys({ job: jobKey(name, id) });
    return call;
  }

  private retryCall(batch: Settlement[]) {
    const { client, keys, name } = this.queue;
    const call = new ScriptCall('job/retry', keys, { revision, now: client.nowMs(), count: batch.length });
    for (const { job, delay, value, startedMs, attemptsStarted, attemptsMade } of batch)
      call.itemKeys({ job: jobKey(name, job.id) }).itemArgs({
        id: job.id,
        token: job.token,
        delay,
        reason: value,
        started: startedMs,
        ats: attemptsStarted,
        atm: attemptsMade,
        by: this.worker,
      });
    return call;
  }

  private releaseCall(batch: Settlement[]) {
    const { client, keys, name } = this.queue;
    const args = { revision, now: client.nowMs(), count: batch.length, hold: batch[0].hold };
    const call = new ScriptCall('job/release', keys, args);
    for (const { job, attemptsStarted } of batch)
      call.itemKeys({ job: jobKey(name, job.id) }).itemArgs({ id: job.id, token: job.token, ats: attemptsStarted });
    return call;
  }
}

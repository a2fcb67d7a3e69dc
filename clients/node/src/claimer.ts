// SPDX-License-Identifier: MIT
// Claimer: claims jobs and loads them (docs/protocol.md, section 5.1). A claim touches no job, because it could
// not have declared its key; afterwards the keys are known.
import { MAX_BATCH_JOBS } from './add_batcher.js';
import { EchoMQError } from './error.js';
import { revision } from './generated/scripts.js';
import { ID_EPOCH_MS } from './id.js';
import { Job } from './job.js';
import { jobKey } from './keyspace.js';
import { leaseScore, leaseToken } from './lease.js';
import { Claimed } from './lifecycle.js';
import type { QueueCore } from './queue_core.js';
import { LOAD_FIELDS, LoadedJob, readLoaded } from './record.js';
import { idsOf, itemsOf, numberOf, textOf } from './reply.js';
import { ScriptCall } from './script_call.js';

export interface Loaded {
  fit: Job[];
  unfit: Job[]; // to be given back: gone, come too late, or one too many that has been through a crash
}

export interface ClaimerHooks {
  claimed(told: Claimed): void;
  refused(error: EchoMQError): void;
  loaded(jobs: Loaded): void;
  // A job that has been through a crash may be taken now.
  crashedReady(): void;
}

const NOTHING: Omit<LoadedJob, 'id'> = {
  name: '',
  data: Buffer.alloc(0),
  options: {},
  addedMs: 0,
  attemptsMade: 0,
  attemptsStarted: 0,
  crashes: 0,
  parentQueue: '',
  parent: '',
};

export const jobWithNothing = (id: string): LoadedJob => ({ id, ...NOTHING });

export class Claimer {
  private onTheirWay = 0;
  private stopping = false;
  private permitHolder?: Job;
  private readonly permitHook = (): void => this.hooks.crashedReady();

  constructor(
    private readonly queue: QueueCore,
    private readonly leaseMs: number,
    private readonly hooks: ClaimerHooks,
  ) {}

  // No claim is on its way, and no load.
  get idle(): boolean {
    return this.onTheirWay === 0;
  }

  stop(): void {
    this.stopping = true;
  }

  ended(job: Job): void {
    if (this.permitHolder !== job) return;
    this.permitHolder = undefined;
    this.queue.client.giveCrashPermit();
  }

  async claim(most: number): Promise<void> {
    ++this.onTheirWay;
    const { client } = this.queue;
    const asked = Math.min(most, MAX_BATCH_JOBS);
    let permit = false;
    let told: Claimed;
    let ids: string[];
    let crashed: number;
    let lease;
    try {
      await client.holder.with();
      const now = client.nowMs();
      lease = client.holder.nextLease(now, this.leaseMs);
      permit = client.takeCrashPermit();
      const score = leaseScore(lease);
      this.queue.claimsOnTheirWay.add(leaseToken(lease));
      const call = new ScriptCall('job/claim', this.queue.keys, {
        revision,
        score,
        count: asked,
        take_crashed: permit,
        now,
      });
      const reply = itemsOf(await this.queue.call(call));
      if (reply.length < 7) throw new EchoMQError('protocol', 'job/claim answered too little');
      ids = idsOf(reply[6]);
      for (const id of ids) this.queue.holds(id, leaseToken(lease));
      crashed = numberOf(reply[2]);
      told = {
        asked,
        taken: ids.length,
        ready: numberOf(reply[1]),
        dueMs: numberOf(reply[3]),
        anyoneActive: numberOf(reply[4]) !== 0 || crashed !== 0,
        open: textOf(reply[0]) === 'open',
        opensMs: numberOf(reply[5]),
      };
    } catch (error) {
      --this.onTheirWay;
      if (permit) client.giveCrashPermit();
      return this.hooks.refused(error as EchoMQError);
    } finally {
      if (lease) this.queue.claimsOnTheirWay.delete(leaseToken(lease));
    }
    const loads = ids.map((id) => this.load(id));
    if (ids.length === 0) {
      --this.onTheirWay;
      if (permit) client.giveCrashPermit();
    }
    this.hooks.claimed(told);
    if (crashed > 0 && !permit) client.awaitCrashPermit(this.permitHook);
    if (ids.length === 0) return;
    const found = await Promise.all(loads);
    --this.onTheirWay;
    // Too little of the lease is left to begin with.
    const late = ID_EPOCH_MS + lease.deadlineS * 1_000 - client.nowMs() < this.leaseMs / 2;
    const lost = found.includes('lost');
    const jobs: Loaded = { fit: [], unfit: [] };
    ids.forEach((id, i) => {
      const record = found[i];
      const there = record !== undefined && record !== 'lost';
      const job = new Job(this.queue, there ? record : jobWithNothing(id), lease);
      const suspect = job.crashes > 0;
      if (this.stopping || !there || lost || late || (suspect && !permit)) return jobs.unfit.push(job);
      if (suspect) {
        this.permitHolder = job;
        permit = false;
      }
      return jobs.fit.push(job);
    });
    if (permit) client.giveCrashPermit();
    this.hooks.loaded(jobs);
  }

  // undefined: there is no such job any more.
  private async load(id: string): Promise<LoadedJob | undefined | 'lost'> {
    try {
      const reply = await this.queue.client.command('hmget', [jobKey(this.queue.name, id), ...LOAD_FIELDS]);
      return readLoaded(id, itemsOf(reply) as Array<Buffer | null>);
    } catch (error) {
      return error instanceof EchoMQError ? 'lost' : undefined; // a foreign type is no job
    }
  }
}

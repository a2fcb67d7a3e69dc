// SPDX-License-Identifier: MIT
// Queue: adds jobs to a queue, and looks after them.
//
//   const mail = new Queue(mq, 'mail');
//   const { id } = await mail.add({ to: 'you' }, { attempts: 3 });
//
// Data that is bytes (Buffer, Uint8Array, ArrayBuffer) is stored as it is; undefined is stored as nothing;
// everything else, strings too, as JSON. Adds that are made at the same time travel together.
import { AddedJob } from './add_batcher.js';
import type { Client } from './client.js';
import { endOwned } from './deduplication.js';
import { EchoMQError } from './error.js';
import { revision } from './generated/scripts.js';
import { checkAnyJobId, jobKey, subKeys } from './keyspace.js';
import { JobOptions, encodeJob } from './options.js';
import type { QueueCore } from './queue_core.js';
import { JobInfo } from './record.js';
import { Relay, readMessages } from './relay.js';
import { buffersOf, itemsOf, numberOf, statusOf, textsOf } from './reply.js';
import { ScriptCall } from './script_call.js';
import { removeError } from './statuses.js';

export interface Counts {
  waiting: number; // jobs that have been through a crash included
  prioritized: number;
  active: number;
  delayed: number;
  completed: number;
  failed: number;
  waitingChildren: number;
  paused: boolean;
  limited: boolean; // a limit is set, or the queue is held
}

export interface NewJob {
  data?: unknown;
  options?: JobOptions;
}

export type AddResult = { ok: true; id: string; deduplicated: boolean } | { ok: false; error: EchoMQError };

const LINE_PAGE = 4_096; // entries of a line in one read
const LINE_OVERLAP = 512; // entries go forward while others are claimed: so many are read twice
const LOOKS = 5; // how often a waiting job is looked for, while its line moves

export class Queue {
  private readonly core: QueueCore;

  // Errors: invalid_name. `orders` and `{orders}` are the same queue.
  constructor(client: Client, name: string) {
    this.core = client.core.queue(name);
  }

  get name(): string {
    return this.core.name;
  }

  // Makes the queue, or proves that it is one of this wire; the first add does so too. Errors: fence, full.
  open(): Promise<void> {
    return this.core.withOpen();
  }

  // Errors: invalid_argument, invalid_name, too_large, encoding (nothing was sent); duplicate, queue_full,
  // full, fence, backpressure; timeout and connection_lost: adding again under the same custom id settles it.
  async add(data?: unknown, options: JobOptions = {}): Promise<AddedJob> {
    return this.core.add(encodeJob(data, options, this.core.client.options.dataLimit));
  }

  // Many jobs, in up to 256 a call; the answers are in the order of the jobs. A job that is not fit to be added
  // refuses all of them before anything is sent (the field "index" says which).
  async addBulk(jobs: readonly NewJob[]): Promise<AddResult[]> {
    const encoded = jobs.map(({ data, options = {} }, i) => {
      try {
        return encodeJob(data, options, this.core.client.options.dataLimit);
      } catch (error) {
        if (!(error instanceof EchoMQError)) throw error;
        throw new EchoMQError(error.code, error.detail, { ...error.fields, index: String(i) });
      }
    });
    return Promise.all(
      encoded.map(async (job): Promise<AddResult> => {
        try {
          return { ok: true, ...(await this.core.add(job)) };
        } catch (error) {
          if (error instanceof EchoMQError) return { ok: false, error };
          throw error;
        }
      }),
    );
  }

  // Errors: not_found (no such queue).
  async counts(): Promise<Counts> {
    const reply = await this.core.look(new ScriptCall('queue/counts', this.core.keys, { revision }));
    const [waiting, prioritized, active, delayed, completed, failed, waitingChildren, , paused, limited] =
      itemsOf(reply).map(numberOf);
    return {
      waiting,
      prioritized,
      active,
      delayed,
      completed,
      failed,
      waitingChildren,
      paused: paused === 1,
      limited: limited === 1,
    };
  }

  // One job at one moment. Errors: invalid_name; not_found: no such job, or no such queue.
  async job(id: string): Promise<JobInfo> {
    checkAnyJobId(id);
    const info = await this.core.readJob(id);
    if (info === undefined) throw this.core.noSuchJob(id);
    return info;
  }

  // Removes a job with all its keys. Errors: not_found; wrong_state: it runs.
  async remove(id: string): Promise<void> {
    checkAnyJobId(id);
    let status = await this.removeSeen(id, -1);
    // It waits where the script did not look: its place is found in bounded reads, and may move meanwhile.
    for (let look = 1; status === 'moved' && look <= LOOKS; ++look) {
      const seen = await this.placeOf(id);
      // In no line, however often: somebody deleted keys by hand, and it stands in no state.
      status = await this.removeSeen(id, seen < 0 && look === LOOKS ? -2 : seen);
      if (seen >= 0 || look < LOOKS || status !== 'ok') continue;
      const left = await this.placeOf(id); // it had moved behind each look
      if (left >= 0) await this.removeSeen(id, left);
    }
    const error = removeError(status, this.name, id);
    if (error) throw error;
  }

  // No job is claimed until resume(); what runs goes on. Answers whether that changed something.
  pause(): Promise<boolean> {
    return this.setPaused(true);
  }
  resume(): Promise<boolean> {
    return this.setPaused(false);
  }

  // Replaces the data of a job. Errors: not_found, too_large.
  async update(id: string, data: unknown): Promise<void> {
    checkAnyJobId(id);
    await this.core.update(id, '', data);
  }

  // The newest lines of a job's log, the oldest of them first.
  async logs(id: string, lines = 1_000): Promise<string[]> {
    checkAnyJobId(id);
    const keys = { ...this.core.keys, job: jobKey(this.name, id), logs: jobKey(this.name, id, 'logs') };
    const call = new ScriptCall('job/read_logs', keys, { revision, id, first: -lines, last: -1 });
    const reply = itemsOf(await this.core.look(call));
    if (reply.length === 0) throw this.core.noSuchJob(id);
    return textsOf(reply.slice(1));
  }

  private async setPaused(paused: boolean): Promise<boolean> {
    await this.core.withOpen();
    const { client, keys } = this.core;
    const call = new ScriptCall('queue/pause', keys, { revision, now: client.nowMs(), paused });
    return numberOf(await this.core.call(call)) === 1;
  }

  private async removeSeen(id: string, seen: number): Promise<string> {
    const { client, keys } = this.core;
    const now = client.nowMs();
    const fixed = { revision, now, count: 1, from: '', before: '', told: now, of: '' };
    const call = new ScriptCall('job/remove', keys, fixed)
      .itemKeys({ job: jobKey(this.name, id), ...subKeys(this.name, id) })
      .itemArgs({ id, seen });
    const [statuses, kept, messages] = itemsOf(await this.core.look(call));
    const told = textsOf(kept);
    const owned = [];
    for (let i = 0; i + 2 < told.length; i += 3) owned.push({ de: told[i], owner: told[i + 1], kept: told[i + 2] });
    // What was kept for the end of this job is added now, and its parent told; where that fails a worker's
    // sweep does it.
    await endOwned(this.core, owned).catch(() => undefined);
    if (messages) await new Relay(this.core).push(readMessages(buffersOf(messages)));
    return statusOf(statuses, 0);
  }

  // The index of a waiting job in its line, -1: it is not there any more.
  private async placeOf(id: string): Promise<number> {
    for (const line of [this.core.keys.wait, this.core.keys.crashed])
      for (let from = 0, more = true; more; from += LINE_PAGE - LINE_OVERLAP) {
        const range = [line, String(from), String(from + LINE_PAGE - 1)];
        const ids = textsOf(await this.core.client.command('lrange', range));
        const at = ids.indexOf(id);
        if (at >= 0) return from + at;
        more = ids.length === LINE_PAGE;
      }
    return -1;
  }
}

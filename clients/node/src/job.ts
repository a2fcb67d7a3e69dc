// SPDX-License-Identifier: MIT
// The job that a handler works on.
import { EchoMQError } from './error.js';
import { revision } from './generated/scripts.js';
import { jobKey } from './keyspace.js';
import { Lease, leaseToken } from './lease.js';
import { encodeData } from './options.js';
import type { QueueCore } from './queue_core.js';
import { LoadedJob } from './record.js';
import { statusOf } from './reply.js';
import { ScriptCall } from './script_call.js';
import { writeError } from './statuses.js';

const LINE_BYTES = 8 * 2 ** 10; // of progress, and of a line of the log
const LINES_KEPT = 1_000;

// Why a run was asked to stop: AbortSignal.reason of Job.signal.
export type StopReason = 'shutdown' | 'cancelled' | 'lease_lost';

export class Job {
  /** @internal When its handler began, by the server's clock; 0: it has not. */
  startedMs = 0;
  private readonly controller = new AbortController();
  private told?: Buffer; // progress that was not sent yet
  private sending?: Promise<void>;
  private stale = false;

  constructor(
    private readonly core: QueueCore,
    private readonly loaded: LoadedJob,
    private readonly lease: Lease,
  ) {}

  get id(): string {
    return this.loaded.id;
  }
  get name(): string {
    return this.loaded.name;
  }
  get queue(): string {
    return this.core.name;
  }
  // The data as it was added.
  get bytes(): Buffer {
    return this.loaded.data;
  }
  get text(): string {
    return this.loaded.data.toString();
  }
  // The data as JSON; undefined where there is none. Errors: decode.
  json<T = unknown>(): T {
    if (this.loaded.data.length === 0) return undefined as T;
    try {
      return JSON.parse(this.text) as T;
    } catch (problem) {
      throw new EchoMQError('decode', `the data is no JSON: ${(problem as Error).message}`);
    }
  }
  // 1 for the first.
  get attempt(): number {
    return this.loaded.attemptsMade + 1;
  }
  get attemptsAllowed(): number {
    return this.loaded.options.attempts ?? 1;
  }
  // Earlier runs that ended with their process.
  get crashes(): number {
    return this.loaded.crashes;
  }
  get addedMs(): number {
    return this.loaded.addedMs;
  }
  get traceparent(): string {
    return this.loaded.options.traceparent ?? '';
  }
  get tracestate(): string {
    return this.loaded.options.tracestate ?? '';
  }
  // The job that waits for this one, and its queue; empty: none.
  get parent(): string {
    return this.loaded.parent;
  }
  get parentQueue(): string {
    return this.loaded.parentQueue;
  }
  // Aborted when the run is asked to stop; its reason is a StopReason. It is a request: what the handler
  // answers counts as ever.
  get signal(): AbortSignal {
    return this.controller.signal;
  }
  // Another run owns the job, or it has ended: this one's result will be refused.
  get leaseLost(): boolean {
    return this.stale;
  }

  // Stores what anyone who reads the job shall see, at most 8 KiB; the latest value wins. Resolves when it is
  // stored, and does not fail: a lost lease shows in `signal`. Errors: too_large.
  progress(value: unknown): Promise<void> {
    const bytes = encodeData(value);
    if (bytes.length > LINE_BYTES)
      throw new EchoMQError('too_large', `the progress is ${bytes.length} bytes long; the limit is ${LINE_BYTES}`);
    this.told = bytes;
    this.sending ??= this.sendProgress().finally(() => (this.sending = undefined));
    return this.sending;
  }

  // Replaces the job's data, as any later run and reader shall have it; `bytes` stays what this run was given.
  // Errors: too_large, stale (another run owns the job, or it has ended), not_found (it was removed), and those
  // of the connection.
  update(data: unknown): Promise<void> {
    return this.core.update(this.id, this.token, data);
  }

  // Appends a line to the job's log, of which the newest 1,000 are kept. Errors: too_large (8 KiB), stale,
  // not_found (it was removed), and those of the connection.
  async log(line: string): Promise<void> {
    const bytes = Buffer.from(line);
    if (bytes.length > LINE_BYTES)
      throw new EchoMQError('too_large', `the line is ${bytes.length} bytes long; the limit is ${LINE_BYTES}`);
    const { name, keys } = this.core;
    const call = new ScriptCall('job/log', keys, { revision, count: 1, keep: LINES_KEPT })
      .itemKeys({ job: jobKey(name, this.id), logs: jobKey(name, this.id, 'logs') })
      .itemArgs({ id: this.id, token: this.token, line: bytes });
    const error = writeError(statusOf(await this.core.call(call), 0), name, this.id);
    if (error) throw error;
  }

  // --- of the worker

  /** @internal */
  get token(): number {
    return leaseToken(this.lease);
  }
  /** @internal */
  get held(): Lease {
    return this.lease;
  }
  /** @internal */
  get record(): LoadedJob {
    return this.loaded;
  }
  /** @internal */
  askToStop(reason: StopReason): void {
    if (reason === 'lease_lost') this.stale = true;
    if (!this.signal.aborted) this.controller.abort(reason);
  }

  private async sendProgress(): Promise<void> {
    const { client, name, keys } = this.core;
    while (this.told !== undefined) {
      const value = this.told;
      this.told = undefined;
      const call = new ScriptCall('job/progress', keys, { revision, now: client.nowMs(), count: 1 })
        .itemKeys({ job: jobKey(name, this.id) })
        .itemArgs({ id: this.id, token: this.token, value });
      const reply = await this.core.call(call).catch(() => undefined);
      if (reply !== undefined && statusOf(reply, 0) !== 'ok') this.askToStop('lease_lost');
    }
  }
}

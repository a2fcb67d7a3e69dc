// SPDX-License-Identifier: MIT
// QueueCore: one queue of one client, shared by its handles and workers: its keys, whether it was opened, the
// group commit of its adds, and what this process holds of it.
import { AddBatcher, AddedJob, Flush, PendingAdd, newFlush } from './add_batcher.js';
import type { ClientCore } from './client.js';
import { EchoMQError } from './error.js';
import { revision } from './generated/scripts.js';
import { QueueKeys, jobKey, queueKeys, subKeys } from './keyspace.js';
import { monotonicMs } from './monotonic.js';
import { openQueue } from './opening.js';
import { bytesOf, encodeData } from './options.js';
import { JobInfo, readInfo, shapesOf } from './record.js';
import { isAbsent } from './refusal.js';
import { Reply, buffersOf, itemsOf, statusOf } from './reply.js';
import { ScriptCall, ScriptName } from './script_call.js';
import { AnsweredAdd, addResult, noSuchJob, writeError } from './statuses.js';

const OWNERS_KNOWN = 4_096; // one that was forgotten costs a round trip
export const NOT_READY_PAUSE_MS = 50;

export const pauseFor = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class QueueCore {
  readonly keys: QueueKeys;
  // Who runs or ends what here: token by id, and the tokens of claims that are on their way.
  private readonly held = new Map<string, number>();
  readonly claimsOnTheirWay = new Set<number>();
  private opening?: Promise<void>;
  private opened = false;
  private readonly batcher = new AddBatcher();
  private readonly owners = new Map<string, string>(); // of deduplication ids, as last told
  private preparing = false;
  private pumping = false;

  constructor(
    readonly client: ClientCore,
    readonly name: string,
  ) {
    this.keys = queueKeys(name);
  }

  // Sends a script that concerns this queue.
  call<Name extends ScriptName>(call: ScriptCall<Name>, timeoutMs?: number): Promise<Reply> {
    return this.client.call(call, this.name, this.keys.meta, timeoutMs);
  }

  // The same for those that only look, which never make a queue: where there is none they fail with not_found.
  async look<Name extends ScriptName>(call: ScriptCall<Name>): Promise<Reply> {
    try {
      return await this.call(call);
    } catch (error) {
      if (!(error instanceof EchoMQError) || !isAbsent(error)) throw error;
      throw new EchoMQError('not_found', `there is no queue "${this.name}" on this server`, { queue: this.name });
    }
  }

  // Opens the queue, once.
  withOpen(): Promise<void> {
    if (this.opened) return Promise.resolve();
    this.opening ??= this.openUntil(monotonicMs() + this.client.options.commandTimeout)
      .then(() => void (this.opened = true))
      .finally(() => (this.opening = undefined));
    return this.opening;
  }

  // A script answered that the queue is gone (obliterated, flushed): it is opened anew next time.
  forgetOpen(): void {
    this.opened = false;
  }

  private async openUntil(deadline: number): Promise<void> {
    for (;;) {
      try {
        return await openQueue(this.client, this.name, this.keys);
      } catch (error) {
        // Opening what is open changes nothing, so an answer that was lost is asked for again.
        const lost = error instanceof EchoMQError && error.code === 'connection_lost';
        if (!lost || monotonicMs() >= deadline) throw error;
      }
    }
  }

  noSuchJob(id: string): EchoMQError {
    return noSuchJob(this.name, id);
  }

  async readJob(id: string): Promise<JobInfo | undefined> {
    const keys = { ...this.keys, job: jobKey(this.name, id) };
    const reply = await this.look(new ScriptCall('job/read', keys, { revision, id }));
    return readInfo(this.name, id, buffersOf(reply));
  }

  // Replaces the data of a job; with the token of a run only while that holds it.
  async update(id: string, token: number | '', data: unknown): Promise<void> {
    const bytes = encodeData(data);
    const { dataLimit } = this.client.options;
    if (bytes.length > dataLimit)
      throw new EchoMQError('too_large', `the job's data is ${bytes.length} bytes long; the limit is ${dataLimit}`);
    const call = new ScriptCall('job/update', this.keys, { revision, count: 1 })
      .itemKeys({ job: jobKey(this.name, id) })
      .itemArgs({ id, token, data: bytes });
    const error = writeError(statusOf(await this.look(call), 0), this.name, id);
    if (error) throw error;
  }

  // --- what this process holds in `active`

  holds(id: string, token: number): void {
    this.held.set(id, token);
  }
  holdsNoMore(id: string, token: number): void {
    if (this.isHeld(id, token)) this.held.delete(id);
  }
  isHeld(id: string, token: number): boolean {
    return this.held.get(id) === token;
  }

  // --- adds

  add(job: PendingAdd['job']): Promise<AddedJob> {
    const bytes = bytesOf(job);
    this.client.takeBuffer(bytes);
    return new Promise<AddedJob>((resolve, reject) => {
      this.batcher.push({ job, bytes, resolve, reject });
      // What is added in one go travels together.
      if (this.pumping) return;
      this.pumping = true;
      queueMicrotask(() => {
        this.pumping = false;
        this.pump();
      });
    }).finally(() => this.client.giveBuffer(bytes));
  }

  // Sends what the batcher has ready, once the queue is open and the node id is held.
  private pump(): void {
    if (this.batcher.length === 0) return;
    if (!this.opened || !this.client.holder.heldAt(this.client.nowMs())) return this.prepare();
    for (let flush = this.batcher.next(); flush; flush = this.batcher.next()) this.start(flush);
  }

  private prepare(): void {
    if (this.preparing) return;
    this.preparing = true;
    this.withOpen()
      .then(() => this.client.holder.with())
      .then(
        () => {
          this.preparing = false;
          this.pump();
        },
        (error) => {
          this.preparing = false;
          for (const add of this.batcher.drain()) add.reject(error);
        },
      );
  }

  private start(flush: Flush): void {
    const deadline = monotonicMs() + this.client.options.commandTimeout;
    void this.send(flush, deadline)
      .catch((error) => flush.adds.forEach((add) => add.reject(error)))
      .finally(() => {
        this.batcher.done(flush.lane);
        this.pump();
      });
  }

  // Until it is answered. What moved meanwhile is said again as a flush of its own: the one before was applied.
  private async send(flush: Flush, deadline: number): Promise<void> {
    let said = flush;
    for (;;) {
      const moved = this.answerAll(said, await this.exchange(said, deadline));
      if (moved.length === 0) return;
      const again = newFlush(
        flush.lane,
        moved.map((i) => said.adds[i]),
        moved.map((i) => said.minted[i]),
      );
      if (monotonicMs() >= deadline) return this.refuseMoved(again);
      said = again;
    }
  }

  private refuseMoved(flush: Flush): void {
    for (const add of flush.adds) {
      const value = add.job.deduplication?.id ?? '';
      const what = `the owner of deduplication id "${value}" of queue "${this.name}" was another one each time`;
      add.reject(
        new EchoMQError('wrong_state', `${what} that the job was added; try again`, { queue: this.name, value }),
      );
    }
  }

  // Nobody knows whether a flush whose answer was lost was applied; its number makes saying it again harmless.
  private async exchange(flush: Flush, deadline: number): Promise<Reply> {
    let reopened = false;
    for (;;) {
      try {
        const call = await this.addCall(flush);
        return await this.call(call as ScriptCall, Math.max(deadline - monotonicMs(), 1));
      } catch (error) {
        if (!(error instanceof EchoMQError)) throw error;
        const inTime = monotonicMs() + NOT_READY_PAUSE_MS < deadline;
        if (error.code === 'loading' && inTime) {
          await pauseFor(NOT_READY_PAUSE_MS);
        } else if (isAbsent(error) && !reopened) {
          reopened = true;
          this.forgetOpen();
          await this.withOpen();
        } else if (error.code !== 'connection_lost' || !inTime) {
          throw error;
        }
      }
    }
  }

  private async addCall(flush: Flush) {
    const { client } = this;
    for (let i = 0; i < flush.adds.length; ++i) {
      if (flush.adds[i].job.id !== '' || flush.minted[i]) continue;
      flush.minted[i] = client.holder.mintId() ?? (await client.holder.mintRenewed());
    }
    if (flush.number === 0) {
      flush.producer = `${client.holder.node}.${flush.lane}`;
      flush.grant = client.holder.grant;
      flush.number = client.nextFlush();
    }
    const common = {
      revision,
      now: client.nowMs(),
      lane: flush.producer,
      grant: flush.grant,
      flush: flush.number,
      count: flush.adds.length,
    };
    return flush.adds.some((add) => add.job.deduplication)
      ? this.addDeduplicatedCall(flush, common)
      : this.addPlainCall(flush, common);
  }

  private addPlainCall(flush: Flush, common: Common) {
    const shapes = shapesOf(flush.adds.map((add) => add.job));
    const call = new ScriptCall('job/add', this.keys, { ...common, shapes });
    flush.adds.forEach(({ job }, i) => {
      const id = job.id || flush.minted[i];
      call.itemKeys({ job: jobKey(this.name, id) });
      if (job.id !== '') call.moreKeys(subKeys(this.name, id));
      call.itemArgs({ id, data: job.data });
    });
    return call;
  }

  // The owner that this process knows of is declared. Where it is another one by now the script tells so, and
  // the job is said again: so there is no look before each add.
  private addDeduplicatedCall(flush: Flush, common: Common) {
    const call = new ScriptCall('job/add_deduplicated', this.keys, common);
    flush.adds.forEach(({ job }, i) => {
      const id = job.id || flush.minted[i];
      const rule = job.deduplication;
      const seen = (rule && this.owners.get(rule.id)) ?? '';
      const key = jobKey(this.name, id);
      call.itemKeys({ job: key, owner: seen === '' ? key : jobKey(this.name, seen) });
      if (job.id !== '') call.moreKeys(subKeys(this.name, id));
      call.itemArgs({
        id,
        custom: job.id !== '',
        data: job.data,
        name: job.name,
        opts: job.opts,
        delay: job.delay,
        priority: job.priority,
        lifo: job.lifo,
        de: rule?.id ?? '',
        how: (rule?.extend ? 'e' : '') + (rule?.replace ? 'r' : '') + (rule?.keepLast ? 'k' : ''),
        ttl: rule?.ttl ?? 0,
        seen,
      });
    });
    return call;
  }

  // Which of them are to be said again, because their ids are owned by others than this process knew.
  private answerAll(flush: Flush, reply: Reply): number[] {
    const items = itemsOf(reply);
    const hasOwners = items.length === 2 && Array.isArray(items[0]);
    const statuses = hasOwners ? items[0] : reply;
    const moved: number[] = [];
    if (this.owners.size > OWNERS_KNOWN) this.owners.clear();
    flush.adds.forEach((add, i) => {
      const id = add.job.id || flush.minted[i];
      const status = statusOf(statuses, i);
      const owner = hasOwners ? statusOf(items[1], i, '') : '';
      const de = add.job.deduplication?.id;
      if (de !== undefined && (status === 'ok' || owner !== '')) this.owners.set(de, status === 'ok' ? id : owner);
      if (status === 'moved') moved.push(i);
      else answer(add, status, { queue: this.name, id, owner, node: this.client.holder.node });
    });
    return moved;
  }
}

function answer(add: PendingAdd, status: string, answered: AnsweredAdd): void {
  const result = addResult(status, answered);
  if (result instanceof EchoMQError) add.reject(result);
  else add.resolve(result);
}

interface Common {
  revision: number;
  now: number;
  lane: string;
  grant: number;
  flush: number;
  count: number;
}

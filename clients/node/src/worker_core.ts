// SPDX-License-Identifier: MIT
// WorkerCore: the running worker. It puts the parts together: a Lifecycle decides when to claim and when to
// wait, the Claimer brings jobs, the handler works them, the Settler tells how that ended; meanwhile their leases
// are extended, and the upkeep of the queue is done.
import { Claimer, Loaded } from './claimer.js';
import { EchoMQError, isWeather } from './error.js';
import { Job } from './job.js';
import { extendLeases, findLostClaims } from './leases_kept.js';
import { Lifecycle } from './lifecycle.js';
import { Mark, Marker } from './marker.js';
import { Outcome, reasonOf } from './outcome.js';
import { QueueCore, pauseFor } from './queue_core.js';
import { isAbsent } from './refusal.js';
import { Relay, readMessages } from './relay.js';
import { buffersOf } from './reply.js';
import { Settlement, endsJob, expire, giveBack, settle } from './settlement.js';
import { Settler } from './settler.js';
import { countedAs } from './statuses.js';
import { Evictor, Releaser, Sweeper, promote } from './upkeep.js';
import type { CheckedWorkerOptions, Handler, WorkerStats } from './worker.js';

const PATIENCE_MS = 10_000; // of a worker that stops with ends that go unanswered, at least
const SWEEP_EVERY_MS = 30_000; // between sweeps of trash, ages and deduplication ids
const DRAIN_POLL_MS = 200; // how often a worker that stops when empty looks
const PAUSE_MS = 500; // after a refusal that passes

// A worker that dies quietly is the worst of failures: it ends only over what no waiting will mend.
const FINAL = ['fence', 'wrong_type', 'denied', 'closed', 'protocol'];

export class WorkerCore {
  readonly stopped: Promise<void>;
  readonly ready: Promise<void>;
  readonly stats: WorkerStats = {
    completed: 0,
    failed: 0,
    retried: 0,
    released: 0,
    recovered: 0,
    refused: 0,
    unknown: 0,
  };
  private readonly life: Lifecycle;
  private readonly claimer: Claimer;
  private readonly marker: Marker;
  private readonly settler: Settler;
  private readonly evictor: Evictor;
  private readonly releaser: Releaser;
  private readonly relay: Relay;
  private readonly sweeper: Sweeper;
  private readonly running = new Map<Job, number>(); // and the order of their claims
  private claims = 0;
  private relays = 0; // messages on their way
  private began = false;
  private stopping = false;
  private over = false;
  private status?: EchoMQError;
  private timer?: NodeJS.Timeout;
  private ticker?: NodeJS.Timeout;
  private sweptMs = SWEEP_EVERY_MS;
  private finish!: () => void;
  private abort!: (why: EchoMQError) => void;
  private begun!: () => void;
  private stepping = false;
  private readonly clientClosed = (): void => this.fail(new EchoMQError('closed', 'the client was closed'));
  private readonly reconnected = (): void => void this.onReconnect();

  constructor(
    private readonly queue: QueueCore,
    private readonly handler: Handler,
    private readonly options: CheckedWorkerOptions,
  ) {
    this.stopped = new Promise((resolve, reject) => {
      this.finish = resolve;
      this.abort = reject;
    });
    this.ready = Promise.race([new Promise<void>((resolve) => (this.begun = resolve)), this.stopped]);
    this.ready.catch(() => undefined);
    const { concurrency, stopWhenEmpty, lease, keepCompleted, keepFailed, maxCrashes, name } = options;
    const poll = stopWhenEmpty ? Math.min(options.poll, DRAIN_POLL_MS) : options.poll;
    this.life = new Lifecycle(concurrency, stopWhenEmpty, poll);
    this.evictor = new Evictor(queue, keepCompleted, keepFailed);
    this.releaser = new Releaser(queue, () => this.idled());
    this.relay = new Relay(queue);
    this.sweeper = new Sweeper(queue, maxCrashes, keepFailed, this.evictor, this.releaser, this.relay, (jobs) => {
      this.stats.recovered += jobs;
    });
    this.settler = new Settler(queue, name, Math.max(lease, PATIENCE_MS), {
      settled: (settlement, status) => this.settled(settlement, status),
      finished: (reply) => {
        this.evictor.push(reply);
        this.tellParents(readMessages(buffersOf(reply[5])));
      },
    });
    this.claimer = new Claimer(queue, lease, {
      claimed: (told) => {
        this.begun();
        this.life.claimed(told, this.queue.client.nowMs());
        this.step();
      },
      refused: (error) => this.claimRefused(error),
      loaded: (jobs) => this.loaded(jobs),
      crashedReady: () => {
        this.life.lookAgain();
        this.step();
      },
    });
    this.marker = new Marker(queue, poll, {
      popped: (mark) => this.popped(mark),
      refused: (error) => this.waitRefused(error),
      late: () => this.lookAgain(),
      putEnded: () => this.checkStopped(),
    });
  }

  start(): void {
    void this.open();
  }

  pause(pause: boolean): void {
    this.life.pause(pause);
    this.step();
  }

  cancel(id: string): boolean {
    const runs = [...this.running.keys()].filter((job) => job.id === id);
    for (const job of runs) job.askToStop('cancelled');
    return runs.length > 0;
  }

  stop(): void {
    if (this.stopping) return;
    this.stopping = true;
    for (const job of this.running.keys()) job.askToStop('shutdown');
    this.claimer.stop();
    this.life.stop();
    this.settler.stop();
    this.step();
    this.marker.close();
    this.checkStopped();
  }

  // Nobody waits for handlers that still run; answers their jobs.
  giveUp(): string[] {
    const jobs = [...this.running.keys()].map((job) => job.id);
    this.running.clear();
    this.checkStopped();
    return jobs;
  }

  // --- the beginning

  private async open(): Promise<void> {
    while (!this.stopping) {
      try {
        await this.queue.withOpen();
        break;
      } catch (error) {
        if (!(error instanceof EchoMQError) || !isWeather(error)) return this.fail(error as EchoMQError);
        this.queue.client.log('warning', `worker of "${this.queue.name}" cannot start yet: ${error.message}`);
        await pauseFor(PAUSE_MS);
      }
    }
    if (this.stopping) return this.checkStopped();
    this.began = true;
    this.marker.open();
    this.life.connected();
    this.queue.client.on('reconnect', this.reconnected);
    this.queue.client.once('close', this.clientClosed);
    const interval = this.options.lease / 3;
    // The connections keep a process alive, not this.
    this.ticker = setInterval(() => this.tick(interval), interval).unref();
    this.tick(interval);
    this.step();
  }

  // The worker cannot go on: what it holds goes back, and `stopped` tells why.
  private fail(why: EchoMQError): void {
    this.status ??= why;
    this.queue.client.log('error', `worker of "${this.queue.name}" stops: ${why.message}`);
    this.stop();
  }

  // --- what the lifecycle decides

  // Lets every part do what it can do now.
  private step(): void {
    if (this.stepping) return queueMicrotask(() => this.step());
    if (this.over || !this.began) return this.checkStopped();
    this.stepping = true;
    this.settler.pump();
    const { client } = this.queue;
    for (let action = this.life.next(client.nowMs()); action; action = this.life.next(client.nowMs())) {
      switch (action.kind) {
        case 'claim':
          void this.claimer.claim(action.count);
          break;
        case 'block':
          void this.marker.wait();
          break;
        case 'promote':
          void this.promote();
          break;
        case 'putWake':
          this.marker.putWake();
          break;
        case 'putTimer':
          this.marker.putTimer(action.dueMs);
          break;
        case 'putGate':
          this.marker.putGate();
          break;
        case 'putTick':
          this.marker.putTick(action.dueMs);
          break;
        case 'drained':
          this.stepping = false;
          return this.drained();
      }
    }
    this.stepping = false;
    this.armTimer();
    this.checkStopped();
  }

  private armTimer(): void {
    clearTimeout(this.timer);
    const due = this.life.timerMs;
    if (due === 0 || this.stopping) return;
    const wait = Math.min(Math.max(due - this.queue.client.nowMs(), 0) + 1, 2 ** 31 - 1);
    this.timer = setTimeout(() => this.step(), wait);
  }

  private lookAgain(): void {
    this.life.lookAgain();
    this.step();
  }

  private async lookAgainAfter(ms: number): Promise<void> {
    await pauseFor(ms);
    this.lookAgain();
  }

  private claimRefused(error: EchoMQError): void {
    this.life.claimFailed();
    // The claim may yet run: only a new connection, which ends the old one, can tell what it took.
    if (error.code === 'timeout') this.queue.client.dropConnection('a claim went unanswered');
    if (isAbsent(error)) return void this.openAnew();
    if (FINAL.includes(error.code) || !(error instanceof EchoMQError)) return this.fail(error);
    this.queue.client.log('warning', `claim on "${this.queue.name}": ${error.message}`);
    // The next claim waits for the connection by itself; other refusals get a pause first.
    void this.lookAgainAfter(error.unknownOutcome || error.code === 'unavailable' ? 0 : PAUSE_MS);
    this.step();
  }

  // Obliterated or flushed under us: the queue is opened anew, if it still may be.
  private async openAnew(): Promise<void> {
    this.queue.forgetOpen();
    try {
      await this.queue.withOpen();
      this.lookAgain();
    } catch (error) {
      if (FINAL.includes((error as EchoMQError).code)) return this.fail(error as EchoMQError);
      await this.lookAgainAfter(PAUSE_MS);
    }
  }

  private popped(mark: Mark): void {
    const nowMs = this.queue.client.nowMs();
    if (mark.kind === 'none') this.life.blockTimedOut();
    else if (mark.kind === 'wake') this.life.woken();
    else this.life.became(mark.kind, mark.dueMs, nowMs);
    this.step();
  }

  private waitRefused(error: EchoMQError): void {
    this.life.blockFailed();
    if (error.code === 'wrong_type' || error.code === 'denied') return this.fail(error);
    this.queue.client.log('warning', error.message);
    void this.lookAgainAfter(PAUSE_MS);
  }

  private async promote(): Promise<void> {
    const { moreDue, againMs } = await promote(this.queue);
    if (againMs !== 0) this.life.promotionFailed(againMs);
    else this.life.promoted(moreDue);
    this.step();
  }

  // --- jobs

  private loaded({ fit, unfit }: Loaded): void {
    for (const job of unfit) {
      this.settler.push(giveBack(job, ++this.claims, false));
      this.life.slotFreed();
      this.claimer.ended(job);
    }
    const nowMs = this.queue.client.nowMs();
    for (const job of fit) {
      const order = ++this.claims;
      const expired = expire(job, order, this.options, nowMs);
      if (expired) {
        this.settler.push(expired);
        this.life.slotFreed();
        this.claimer.ended(job);
      } else {
        this.running.set(job, order);
        void this.run(job, order);
      }
    }
    this.step();
  }

  private async run(job: Job, order: number): Promise<void> {
    job.startedMs = this.queue.client.nowMs();
    let outcome: Outcome;
    try {
      const answer = await this.handler(job);
      outcome = answer instanceof Outcome ? answer : Outcome.done(answer);
    } catch (thrown) {
      outcome = thrown instanceof Outcome ? thrown : Outcome.fail(reasonOf(thrown));
    }
    if (!this.running.delete(job)) return; // given up
    this.settler.push(settle(job, order, outcome, this.options, Math.random()));
    this.life.slotFreed();
    this.claimer.ended(job);
    this.step();
  }

  private settled(settlement: Settlement, status: string): void {
    const { job, kind } = settlement;
    this.queue.holdsNoMore(job.id, job.token);
    const counted = countedAs(kind, status);
    if (counted) ++this.stats[counted];
    const rule = job.record.options.deduplication;
    if (rule && (status === 'gone' || (endsJob(settlement) && (status === 'ok' || status === 'done'))))
      this.releaser.push([{ de: rule.id, owner: job.id, kept: '' }]);
    if (status !== 'ok' && status !== 'done')
      this.queue.client.log(
        'warning',
        `job ${job.id} of "${this.queue.name}": the end of its run was answered "${status}"`,
      );
    queueMicrotask(() => this.step());
  }

  private tellParents(messages: ReturnType<typeof readMessages>): void {
    if (messages.length === 0) return;
    ++this.relays;
    void this.relay.push(messages).then(() => {
      --this.relays;
      this.idled();
    });
  }

  // The releaser or the relay has nothing left to do, and jobs may be ready by what it did.
  private idled(): void {
    if (this.options.stopWhenEmpty) this.life.lookAgain();
    this.step();
  }

  // --- while they run

  // Once every renewal interval.
  private tick(interval: number): void {
    const { client } = this.queue;
    const quiet = (work: Promise<unknown>): void => void work.catch(() => undefined);
    quiet(this.extend());
    if (this.stopping || !client.connected) return;
    // A lost connection that nobody may end may bring a claim at any time.
    if (client.killDenied) quiet(this.reconcile());
    quiet(this.sweeper.tick());
    quiet(this.relay.sweep());
    this.sweptMs += interval;
    if (this.sweptMs < SWEEP_EVERY_MS) return;
    this.sweptMs = 0;
    quiet(this.evictor.sweep());
    quiet(this.releaser.sweep());
  }

  private extend(): Promise<void> {
    const jobs = [...this.running.keys()].filter((job) => !job.leaseLost);
    return extendLeases(this.queue, jobs, this.options.lease, (job) => {
      if (this.running.has(job)) job.askToStop('lease_lost');
    });
  }

  // Extending comes first: every lease may be about to end. Then claims whose answer was lost are given back.
  private async onReconnect(): Promise<void> {
    this.lookAgain();
    await this.extend().catch(() => undefined);
    await this.reconcile().catch(() => undefined);
  }

  private async reconcile(): Promise<void> {
    await findLostClaims(this.queue, (job) => this.settler.push(giveBack(job, ++this.claims, false)));
    this.settler.pump();
  }

  // --- the end

  private drained(): void {
    if (this.releaser.idle && this.relays === 0 && this.settler.idle) this.stop();
  }

  private checkStopped(): void {
    if (!this.stopping || this.over || this.running.size > 0 || !this.claimer.idle || !this.marker.idle) return;
    if (this.began) this.settler.pump();
    if (!this.settler.idle || !this.releaser.idle || this.relays > 0) return;
    this.over = true;
    clearTimeout(this.timer);
    clearInterval(this.ticker);
    this.queue.client.off('reconnect', this.reconnected);
    this.queue.client.off('close', this.clientClosed);
    if (this.status) this.abort(this.status);
    else this.finish();
  }
}

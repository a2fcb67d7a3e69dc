// SPDX-License-Identifier: MIT
// Worker: takes jobs from a queue and runs a handler on them.
//
//   const worker = new Worker(mq, 'mail', async (job) => send(job.json()), { concurrency: 8 });
//   process.once('SIGTERM', () => worker.stop());
//   await worker.stopped;
//
// A handler returns the job's result (bytes, or a value that is stored as JSON) or an Outcome; what it throws is
// a failed attempt. A job runs at least once: while its handler works the worker extends its lease; when the
// process dies or loses the server for longer than the lease, another worker, of whatever runtime, runs the job
// again, and this one's result is refused. Handlers share node's one thread: one that computes for two thirds
// of the lease without awaiting anything loses it.
import type { Client } from './client.js';
import { EchoMQError, badOption } from './error.js';
import { Job } from './job.js';
import { Keep, checkKeep, checkWhole } from './options.js';
import { WorkerCore } from './worker_core.js';

export type Handler = (job: Job) => unknown;

export interface WorkerOptions {
  concurrency?: number; // handlers at the same time, 1 to 10,000; 1 by default
  // ms after which the job of a silent worker is given to another; at least 2,000, 30,000 by default. Give all
  // workers of a queue the same.
  lease?: number;
  maxCrashes?: number; // a job whose lease ran out more often ends in `failed`; 2 by default
  // A handler may put its job off until it has been started so often; 0, the default: for ever.
  maxStarts?: number;
  keepCompleted?: Keep; // finished jobs that are kept, unless the job has its own rule: 1,000 and a day
  keepFailed?: Keep; // 10,000 and a week
  poll?: number; // ms; an idle worker asks the server at least this often; 5,000 by default
  stopWhenEmpty?: boolean; // stop by itself once nothing is waiting, delayed or active in the queue
  name?: string; // stored with each job that it ran; at most 255 bytes
}

export interface WorkerStats {
  completed: number;
  failed: number; // ended in failed
  retried: number; // attempts that gave the job another one
  released: number; // given back: unworked or rate limited
  recovered: number; // taken back from dead workers
  refused: number; // results refused: another run owned the job, or it was gone
  unknown: number; // results sent whose answer never came
}

export type CheckedWorkerOptions = Required<Omit<WorkerOptions, 'keepCompleted' | 'keepFailed'>> & {
  keepCompleted: Required<Keep>;
  keepFailed: Required<Keep>;
};

function checked(given: WorkerOptions): CheckedWorkerOptions {
  const options = {
    concurrency: 1,
    lease: 30_000,
    maxCrashes: 2,
    maxStarts: 0,
    poll: 5_000,
    stopWhenEmpty: false,
    name: 'worker',
    ...given,
    keepCompleted: checkKeep('keepCompleted', given.keepCompleted ?? { count: 1_000, age: 86_400 }),
    keepFailed: checkKeep('keepFailed', given.keepFailed ?? { count: 10_000, age: 7 * 86_400 }),
  };
  checkWhole('concurrency', options.concurrency, 1, 10_000, '1 to 10,000');
  checkWhole('lease', options.lease, 2_000, 86_400_000, 'milliseconds, 2,000 to a day');
  checkWhole('maxCrashes', options.maxCrashes, 0, 1_000, '0 to 1,000');
  checkWhole('maxStarts', options.maxStarts, 0, 1_000_000, '0 to 1,000,000');
  checkWhole('poll', options.poll, 100, 60_000, 'milliseconds, 100 to 60,000');
  const bytes = Buffer.byteLength(options.name);
  if (bytes > 255) throw badOption('name', `${bytes} bytes long`, 'at most 255 bytes');
  return options;
}

export class Worker {
  // When it has stopped: by stop(), by stopWhenEmpty, or by an error, which it is rejected with.
  readonly stopped: Promise<void>;
  private readonly core: WorkerCore;

  // Starts to take jobs at once. Errors: invalid_argument, invalid_name. A foreign queue (fence) stops it.
  constructor(client: Client, queue: string, handler: Handler, options: WorkerOptions = {}) {
    this.core = new WorkerCore(client.core.queue(queue), handler, checked(options));
    this.stopped = this.core.stopped;
    this.stopped.catch(() => undefined); // nobody has to wait for it
    this.core.start();
  }

  // When the queue is open and the first claim was answered.
  ready(): Promise<void> {
    return this.core.ready;
  }

  // Takes no more jobs, gives unstarted ones back, aborts the signals of running handlers and waits for them up
  // to `grace` ms. Errors: timeout (handlers were still running; the field "jobs" names them; their jobs are
  // recovered when their lease ends).
  async stop(grace = 25_000): Promise<void> {
    this.core.stop();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => (timer = setTimeout(() => resolve('late'), grace)));
    const how = await Promise.race([this.stopped.catch(() => undefined), late]);
    clearTimeout(timer);
    if (how !== 'late') return;
    const jobs = this.core.giveUp();
    throw new EchoMQError('timeout', `handlers still run after ${grace} ms: ${jobs.join(' ')}`, {
      jobs: jobs.join(' '),
    });
  }

  // Takes no more jobs until resume(); what was claimed by then is worked.
  pause(): void {
    this.core.pause(true);
  }
  resume(): void {
    this.core.pause(false);
  }

  // Aborts the signal of a run; answers whether the job runs in this worker. It is for the handler to stop.
  cancel(id: string): boolean {
    return this.core.cancel(id);
  }

  get stats(): WorkerStats {
    return { ...this.core.stats };
  }
}

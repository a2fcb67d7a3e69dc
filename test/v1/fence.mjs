// SPDX-License-Identifier: MIT
// A stock v1 client tries what it is told to, one thing after the other, and says how each went.
//
//   node fence.mjs PACKAGE SOCKET TARGETS
//
// PACKAGE is bullmq, bullmq-oldest or bullmq-newest; TARGETS is a JSON array of
// {"prefix", "queue", "skip", "ops"}, with "skip" for a client that leaves `meta` alone. Each line of
// the output is a document: {"target", "op", "ok", "error", "value"}; "value" is what an op of `reads`
// answered, as JSON. V1_USER and V1_PASSWORD are a login.
import { createRequire } from 'node:module';

const [packageName, path, targets] = process.argv.slice(2);
const { Queue, Worker, FlowProducer, QueueEventsProducer, Job } = createRequire(
  import.meta.url,
)(packageName);

const login = process.env.V1_USER
  ? { username: process.env.V1_USER, password: process.env.V1_PASSWORD }
  : {};

// What a client of one target can do.
function client({ prefix, queue: name, skip }) {
  const options = { connection: { path, maxRetriesPerRequest: null, ...login }, prefix };
  const closing = [];
  const opened = (thing) => {
    thing.on('error', () => {});
    closing.push(thing);
    return thing;
  };
  let made;
  const queue = async () => {
    if (!made) {
      made = opened(new Queue(name, { ...options, skipMetasUpdate: skip }));
      await made.waitUntilReady();
      // What the constructor sends travels before the next command.
      await (await made.client).ping();
    }
    return made;
  };
  let idle;
  const worker = async () => {
    if (!idle) {
      const settings = { autorun: false, drainDelay: 1, stalledInterval: 1000 };
      idle = opened(new Worker(name, async () => 'v1', { ...options, ...settings }));
      await idle.waitUntilReady();
    }
    return idle;
  };
  const firstWaiting = async () => {
    const [id] = await (await queue()).getRanges(['wait'], 0, 0);
    if (!id) throw new Error('no job waits');
    return id;
  };

  const job = async (id) => {
    const found = await (await queue()).getJob(id);
    if (!found) throw new Error(`there is no job ${id}`);
    return found;
  };
  // Jobs as far as they are the same in each run.
  const shown = (jobs) => jobs.map(({ id, data }) => [id, data]).sort();

  // What only looks, and answers what it saw.
  const reads = {
    get_job: async () => (await job('one')).data,
    get_state: async () => (await job('later')).getState(),
    get_waiting: async () => shown(await (await queue()).getWaiting()),
    get_delayed: async () => shown(await (await queue()).getDelayed()),
    get_prioritized: async () => shown(await (await queue()).getPrioritized()),
    get_completed: async () => shown(await (await queue()).getCompleted()),
    get_failed: async () => shown(await (await queue()).getFailed()),
    get_active: async () => shown(await (await queue()).getActive()),
    get_logs: async () => (await queue()).getJobLogs('one'),
    get_counts: async () => (await queue()).getJobCounts('wait', 'delayed'),
    get_all_counts: async () => (await queue()).getJobCounts(),
  };

  const all = {
    ...reads,
    construct: async () => queue(),
    add: async () => (await queue()).add('n', { a: 1 }),
    add_id: async () => (await queue()).add('n', {}, { jobId: 'custom' }),
    add_delayed: async () => (await queue()).add('n', {}, { delay: 60000 }),
    add_prioritized: async () => (await queue()).add('n', {}, { priority: 3 }),
    add_lifo: async () => (await queue()).add('n', {}, { lifo: true }),
    add_deduplicated: async () =>
      (await queue()).add('n', {}, { deduplication: { id: 'd', ttl: 60000 } }),
    add_bulk: async () => (await queue()).addBulk([{ name: 'n', data: {} }, { name: 'm', data: {} }]),
    add_repeat: async () => (await queue()).add('n', {}, { repeat: { every: 60000 } }),
    scheduler_every: async () => (await queue()).upsertJobScheduler('s', { every: 60000 }),
    scheduler_cron: async () => (await queue()).upsertJobScheduler('c', { pattern: '* * * * *' }),
    flow: async () =>
      opened(new FlowProducer(options)).add({
        name: 'parent',
        queueName: name,
        children: [{ name: 'child', queueName: name }],
      }),
    fetch: async () => (await worker()).getNextJob('token', { block: false }),
    stalled: async () => (await worker()).scripts.moveStalledJobsToWait(),
    // The worker's own loop, until it has done a job or reports what it meets.
    work: async () => {
      const busy = await worker();
      await new Promise((done, fail) => {
        busy.on('error', fail);
        busy.on('completed', done);
        busy.run().catch(fail);
        setTimeout(() => fail(new Error('it found no job')), 4000).unref();
      });
    },
    counts: async () => (await queue()).getJobCounts(),
    pause: async () => (await queue()).pause(),
    resume: async () => (await queue()).resume(),
    drain: async () => (await queue()).drain(),
    drain_delayed: async () => (await queue()).drain(true),
    clean_wait: async () => (await queue()).clean(0, 0, 'wait'),
    clean_paused: async () => (await queue()).clean(0, 0, 'paused'),
    clean_prioritized: async () => (await queue()).clean(0, 0, 'prioritized'),
    clean_delayed: async () => (await queue()).clean(0, 0, 'delayed'),
    clean_completed: async () => (await queue()).clean(0, 0, 'completed'),
    clean_failed: async () => (await queue()).clean(0, 0, 'failed'),
    clean_active: async () => (await queue()).clean(0, 0, 'active'),
    obliterate: async () => (await queue()).obliterate(),
    obliterate_force: async () => (await queue()).obliterate({ force: true }),
    retry_jobs: async () => (await queue()).retryJobs({ state: 'failed' }),
    promote_jobs: async () => (await queue()).promoteJobs(),
    rate_limit: async () => (await queue()).rateLimit(60000),
    global_concurrency: async () => (await queue()).setGlobalConcurrency(2),
    trim_events: async () => (await queue()).trimEvents(0),
    remove_waiting: async () => (await queue()).remove(await firstWaiting()),
    remove_scheduler: async () => (await queue()).removeJobScheduler('s'),
    // A job of v2 has no fields of which v1 could make one; what it sends needs the id alone.
    update_data: async () =>
      new Job(await queue(), 'any', {}, {}, await firstWaiting()).updateData({ v: 1 }),
    promote: async () => (await job('later')).promote(),
    change_delay: async () => (await job('later')).changeDelay(7200000),
    change_priority: async () => (await job('first')).changePriority({ priority: 5 }),
    retry: async () => (await job('broken')).retry(),
    retry_completed: async () => (await job('done')).retry('completed'),
    // '0' is the token with which a job is moved that nobody locked.
    move_to_failed: async () => (await job('first')).moveToFailed(new Error('v1'), '0'),
    move_to_completed: async () => (await job('first')).moveToCompleted('v1', '0'),
    move_to_delayed: async () => (await job('first')).moveToDelayed(Date.now() + 1000, '0'),
    move_to_wait: async () => (await job('first')).moveToWait('0'),
    move_with_token: async () => (await job('first')).moveToFailed(new Error('v1'), 'token'),
    extend_lock: async () => (await job('first')).extendLock('token', 30000),
    update_progress: async () => (await job('first')).updateProgress(50),
    log: async () => (await job('first')).log('of v1'),
    clear_logs: async () => (await job('first')).clearLogs(),
    remove_children: async () => (await job('first')).removeUnprocessedChildren(),
    remove_job: async () => (await job('later')).remove(),
    global_rate_limit: async () => (await queue()).setGlobalRateLimit(1, 1000),
    remove_global_rate_limit: async () => (await queue()).removeGlobalRateLimit(),
    remove_global_concurrency: async () => (await queue()).removeGlobalConcurrency(),
    remove_rate_limit_key: async () => (await queue()).removeRateLimitKey(),
    remove_deduplication_key: async () => (await queue()).removeDeduplicationKey('any'),
    // Where an id of v1's is a word of ours.
    remove_deduplication_key_due: async () => (await queue()).removeDeduplicationKey('due'),
    publish: async () =>
      opened(new QueueEventsProducer(name, options)).publishEvent({ eventName: 'mine' }),
  };
  const close = () =>
    // A worker that is refused goes on trying for as long as it is open.
    Promise.race([
      Promise.allSettled(closing.map((thing) => thing.close())),
      new Promise((done) => setTimeout(done, 2000).unref()),
    ]);
  return { all, close };
}

for (const [target, wanted] of JSON.parse(targets).entries()) {
  const { all, close } = client(wanted);
  for (const op of wanted.ops) {
    const line = { target, op, ok: true, error: '' };
    try {
      if (!all[op]) throw new Error(`there is no op ${op}`);
      const limit = new Promise((_, fail) =>
        setTimeout(() => fail(new Error('no answer in 8 s')), 8000).unref(),
      );
      const value = await Promise.race([all[op](), limit]);
      if (op.startsWith('get_')) line.value = JSON.stringify(value);
    } catch (problem) {
      line.ok = false;
      line.error = String(problem.message ?? problem);
    }
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
  await close();
}
process.exit(0);

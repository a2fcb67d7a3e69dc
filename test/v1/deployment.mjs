// SPDX-License-Identifier: MIT
// Makes a small v1 deployment with something of everything that is at rest: three queues under one
// prefix, with flows between them. Whoever calls it says which client makes it.
//
//   const made = await makeDeployment(bullmq, connection, 'bull');
//
// What a client of the oldest version does not have is left out there.

const hour = 3600_000;

// Works until so many jobs have ended.
export async function work(bullmq, name, connection, prefix, count, handler, options = {}) {
  const own = connection.duplicate({ maxRetriesPerRequest: null });
  const worker = new bullmq.Worker(name, handler, { connection: own, prefix, autorun: false, ...options });
  const ended = new Promise((resolve) => {
    let left = count;
    const one = () => { if (--left === 0) resolve(); };
    worker.on('completed', one);
    worker.on('failed', one);
  });
  const running = worker.run();
  await ended;
  await worker.close();
  await running;
  own.disconnect();
}

async function jobs(orders) {
  for (let i = 0; i < 5; i++) await orders.add('plain', { i });
  await orders.add('unicode', { text: 'Grüße, 世界 🎉', nested: { list: [1, 2.5, null, true] } });
  await orders.add('front', { i: 'lifo' }, { lifo: true });
  await orders.add('custom', { i: 'custom' }, { jobId: 'order-4711' });
  await orders.add('custom', { i: 'odd' }, { jobId: 'Bestellung Nr. 4711/ä' });
  await orders.add('word', { i: 'word' }, { jobId: 'trash' });
  for (const [i, priority] of [7, 1, 7, 3, 1, 2097151].entries()) await orders.add('prioritized', { i }, { priority });
  const later = { delay: hour, timestamp: Date.now() };
  for (let i = 0; i < 12; i++) await orders.add('delayed', { i }, later);
  await orders.add('delayed', { i: 'with a priority' }, { delay: 2 * hour, priority: 5 });
  await orders.add('patient', { i: 'options' }, {
    attempts: 5, backoff: { type: 'exponential', delay: 1000 }, removeOnComplete: { age: 3600, count: 100 },
    removeOnFail: false, keepLogs: 3, sizeLimit: 10_000,
  });
}

async function ended(bullmq, connection, prefix) {
  const name = 'images';
  const images = new bullmq.Queue(name, { connection, prefix });
  for (let i = 0; i < 4; i++) await images.add('resize', { i });
  await images.add('broken', { i: 'fails' });
  await images.add('retried', { i: 'fails once' }, { attempts: 3, backoff: { type: 'fixed', delay: hour } });
  await work(bullmq, name, connection, prefix, 6, async (job) => {
    await job.log(`begins ${job.name}`);
    await job.log('Zeile zwei');
    await job.updateProgress({ percent: 50 });
    if (job.name !== 'resize') throw new Error(`cannot do ${job.name}`);
    return { width: job.data.i, ok: true };
  }, { metrics: { maxDataPoints: 100 } });
  // As if the first of them had ended minutes ago; then one more tells the points.
  await connection.hset(`${prefix}:${name}:metrics:completed`, 'prevTS', Date.now() - 5 * 60_000);
  await images.add('resize', { i: 'the last one' });
  await work(bullmq, name, connection, prefix, 1, async () => undefined, { metrics: { maxDataPoints: 100 } });
  return images;
}

async function flows(bullmq, connection, prefix) {
  const producer = new bullmq.FlowProducer({ connection, prefix });
  const policies = [{}, { failParentOnFailure: true }, { ignoreDependencyOnFailure: true }, { removeDependencyOnFailure: true }, { continueParentOnFailure: true }];
  const tree = await producer.add({
    name: 'assemble', queueName: 'mail', data: { whole: true }, opts: { jobId: 'parent-1' },
    children: [
      ...policies.map((opts, i) => ({ name: 'part', queueName: 'parts', data: { i }, opts: { ...opts, jobId: `part-${i}` } })),
      { name: 'part', queueName: 'parts', data: { i: 'grand' }, opts: { jobId: 'part-grand', priority: 2 },
        children: [{ name: 'part', queueName: 'parts', data: { i: 'grandchild' } }] },
    ],
  });
  await producer.add({
    name: 'done before', queueName: 'mail', data: {}, opts: { jobId: 'parent-2' },
    children: [{ name: 'early', queueName: 'early', data: {}, opts: { jobId: 'early-1' } },
               { name: 'early', queueName: 'early', data: {}, opts: { jobId: 'early-2' } }],
  });
  // One of the children of the second has ended, and its parent knows.
  const own = connection.duplicate();
  const worker = new bullmq.Worker('early', null, { connection: own, prefix });
  const first = await worker.getNextJob('token');
  await first.moveToCompleted({ early: true }, 'token', false);
  await worker.close();
  own.disconnect();
  await producer.close();
  return tree;
}

async function schedulers(orders) {
  const made = [];
  if (orders.upsertJobScheduler) {
    await orders.upsertJobScheduler('hourly', { every: hour }, { name: 'tick', data: { every: 'hour' }, opts: { attempts: 2 } });
    await orders.upsertJobScheduler('nightly', { pattern: '0 30 2 * * *', tz: 'Europe/Berlin' }, { name: 'night', data: { report: 'sales' }, opts: { priority: 3 } });
    await orders.upsertJobScheduler('with a blank', { pattern: '*/10 * * * *', limit: 1000 }, { name: 'odd', data: {} });
    made.push('hourly', 'nightly', 'with a blank');
  }
  if (orders.getRepeatableJobs) {
    await orders.add('repeated', { old: true }, { repeat: { pattern: '0 0 4 * * *', tz: 'Asia/Tokyo' } });
    await orders.add('repeated', { old: 'every' }, { repeat: { every: 2 * hour } });
  }
  return made;
}

async function deduplication(orders) {
  await orders.add('simple', { n: 1 }, { deduplication: { id: 'simple' } });
  await orders.add('simple', { n: 2 }, { deduplication: { id: 'simple' } });
  await orders.add('throttled', { n: 1 }, { deduplication: { id: 'throttle', ttl: 24 * hour } });
  await orders.add('debounced', { n: 1 }, { deduplication: { id: 'debounce', ttl: 24 * hour, extend: true, replace: true }, delay: hour });
  await orders.add('debounced', { n: 2 }, { deduplication: { id: 'debounce', ttl: 24 * hour, extend: true, replace: true }, delay: hour });
}

export async function makeDeployment(bullmq, connection, prefix, many = 0) {
  const options = { connection, prefix };
  const orders = new bullmq.Queue('orders', options);
  const mail = new bullmq.Queue('mail', options);
  await orders.waitUntilReady();
  await jobs(orders);
  const images = await ended(bullmq, connection, prefix);
  await flows(bullmq, connection, prefix);
  await schedulers(orders);
  await deduplication(orders);
  for (let i = 0; i < 3; i++) await mail.add('letter', { i });
  await mail.pause();
  await mail.add('letter', { i: 'while paused' });
  if (orders.setGlobalConcurrency) await orders.setGlobalConcurrency(50);
  if (orders.setGlobalRateLimit) await orders.setGlobalRateLimit(100_000, 1000);
  for (let at = 0; at < many; at += 1000) {
    const batch = [];
    for (let i = at; i < Math.min(at + 1000, many); i++) batch.push({ name: 'bulk', data: { i, text: 'x'.repeat(100) } });
    await images.addBulk(batch);
  }
  if (many > 0) await images.add('large', { text: 'ü'.repeat(500_000) });
  await Promise.all([orders.close(), mail.close(), images.close()]);
}

export const queues = ['orders', 'mail', 'images', 'parts', 'early'];

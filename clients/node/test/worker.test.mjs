// SPDX-License-Identifier: MIT
// Working jobs: outcomes, leases, ends in good order and in bad weather.
import assert from 'node:assert/strict';
import { createConnection, createServer } from 'node:net';
import { test } from 'node:test';

import { EchoMQError, Outcome, Worker, connect } from '../dist/index.mjs';
import { eventually } from './server.mjs';
import { fresh, mq, server } from './shared.mjs';

const stateIs = (queue, id, state) =>
  eventually(async () => {
    const job = await queue.job(id);
    return job.state === state && job;
  }, `${id} is ${state}`);
const work = (queue, handler, options = {}) => new Worker(mq, queue.name, handler, options);

test('results are what handlers return, reasons what they throw', async () => {
  const queue = fresh();
  const answers = {
    value: () => ({ n: 1 }),
    bytes: () => Buffer.from([0, 255]),
    nothing: () => undefined,
    done: () => Outcome.done('x'),
    error: () => {
      throw new Error('outer', { cause: new TypeError('inner') });
    },
    text: () => {
      throw 'text';
    },
    fail: () => Outcome.fail('said so'),
    large: () => Buffer.alloc(256 * 1024 + 1),
    circular: () => {
      const one = {};
      one.one = one;
      return one;
    },
  };
  const ids = {};
  for (const name of Object.keys(answers)) ids[name] = (await queue.add(undefined, { name })).id;
  const worker = work(queue, (job) => answers[job.name](), { concurrency: 3, stopWhenEmpty: true, name: 'me' });
  await worker.stopped;
  const job = Object.fromEntries(
    await Promise.all(Object.entries(ids).map(async ([name, id]) => [name, await queue.job(id)])),
  );
  assert.equal(job.value.result.toString(), '{"n":1}');
  assert.deepEqual(job.bytes.result, Buffer.from([0, 255]));
  assert.equal(job.nothing.result, undefined);
  assert.equal(job.done.result.toString(), '"x"');
  assert.equal(job.error.failedReason, 'outer; caused by: inner');
  assert.equal(job.text.failedReason, 'text');
  assert.equal(job.fail.failedReason, 'said so');
  assert.match(job.large.failedReason, /^too_large: /);
  assert.equal(job.circular.state, 'failed');
  assert.equal(job.value.worker, 'me');
  assert.deepEqual([worker.stats.completed, worker.stats.failed], [4, 5]);
});

test('an attempt that failed gets another one after its backoff', async () => {
  const queue = fresh();
  const { id } = await queue.add(1, { attempts: 3, backoff: { type: 'exponential', delay: 50 } });
  const began = [];
  const worker = work(queue, (job) => {
    began.push(performance.now());
    if (job.attempt < 3) throw new Error(`attempt ${job.attempt} of ${job.attemptsAllowed}`);
  });
  const job = await stateIs(queue, id, 'completed');
  assert.ok(began[1] - began[0] >= 49 && began[2] - began[1] >= 99, `${began}`);
  assert.deepEqual([job.attemptsMade, job.failedReason], [3, 'attempt 2 of 3']);
  await worker.stop();
});

test('outcomes put off, give up, and hold the queue', async () => {
  const queue = fresh();
  const seen = [];
  const first = await queue.add(1, { name: 'later' });
  const second = await queue.add(1, { name: 'never', attempts: 5 });
  const worker = work(queue, (job) => {
    seen.push(job.name);
    if (job.name === 'never') return Outcome.unrecoverable('no use');
    if (job.name === 'held') return seen.filter((name) => name === 'held').length === 1 ? Outcome.rateLimited(150) : 1;
    if (seen.length === 1) throw Outcome.retryIn(20);
    return 1;
  });
  const later = await stateIs(queue, first.id, 'completed');
  assert.deepEqual([later.attemptsMade, later.attemptsStarted], [1, 2]);
  const never = await stateIs(queue, second.id, 'failed');
  assert.deepEqual([never.attemptsMade, never.failedReason], [1, 'no use']);
  const begun = performance.now();
  const third = await queue.add(1, { name: 'held' });
  const held = await stateIs(queue, third.id, 'completed');
  assert.ok(performance.now() - begun >= 145, 'the queue was held');
  assert.equal(held.attemptsMade, 1);
  await worker.stop();
});

test('priorities, lifo and lines are in order', async () => {
  const queue = fresh();
  const order = [];
  for (const [data, options] of [
    ['p2', { priority: 2 }],
    ['p1', { priority: 1 }],
    ['a', {}],
    ['b', {}],
    ['l', { lifo: true }],
  ])
    await queue.add(data, options);
  await work(queue, (job) => order.push(job.json()) && undefined, { stopWhenEmpty: true }).stopped;
  assert.deepEqual(order, ['l', 'a', 'b', 'p1', 'p2']);
});

test('an idle worker is woken at once, by jobs and by their times', async () => {
  const queue = fresh();
  const worker = work(queue, () => undefined, { poll: 30_000 });
  await worker.ready();
  // It blocks on the marker, so that the mark is gone when it was popped.
  for (const options of [{}, { delay: 100 }, {}]) {
    const begun = performance.now();
    const { id } = await queue.add(1, options);
    await stateIs(queue, id, 'completed');
    assert.ok(performance.now() - begun < 3_000, 'it was woken before its poll');
  }
  await worker.stop();
});

test('a worker does so many at a time as it may', async () => {
  const queue = fresh();
  await queue.addBulk(Array.from({ length: 30 }, () => ({})));
  let now = 0;
  let most = 0;
  await work(
    queue,
    async () => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setImmediate(resolve));
      --now;
    },
    { concurrency: 7, stopWhenEmpty: true },
  ).stopped;
  assert.equal(most, 7);
});

test('a stop gives back what was not begun and waits for what was', async () => {
  const queue = fresh();
  const ids = (await queue.addBulk(Array.from({ length: 5 }, () => ({})))).map(({ id }) => id);
  let end;
  const worker = work(
    queue,
    (job) =>
      new Promise((resolve) => job.signal.addEventListener('abort', () => (end = () => resolve(job.signal.reason)))),
  );
  await stateIs(queue, ids[0], 'active');
  const stopping = worker.stop();
  await eventually(() => end, 'the handler is asked to stop');
  end();
  await stopping;
  assert.equal((await queue.job(ids[0])).result.toString(), '"shutdown"');
  assert.deepEqual(await server.raw.lrange(`emq:{${queue.name}}:wait`, 0, -1), ids.slice(1));
  const { active, waiting } = await queue.counts();
  assert.deepEqual([active, waiting], [0, 4]);
});

test('a claim that comes back to a worker that stops is given back in its order', async () => {
  const queue = fresh();
  const ids = (await queue.addBulk(Array.from({ length: 50 }, () => ({})))).map(({ id }) => id);
  const worker = work(queue, () => undefined, { concurrency: 50 });
  worker.stop();
  await worker.stopped;
  const left = await server.raw.lrange(`emq:{${queue.name}}:wait`, 0, -1);
  assert.deepEqual(left, ids.slice(ids.length - left.length));
  assert.equal((await queue.counts()).active, 0);
});

test('a stop with a handler that does not end names its job', async () => {
  const queue = fresh();
  const { id } = await queue.add(1);
  const worker = work(queue, () => new Promise(() => undefined));
  await stateIs(queue, id, 'active');
  await assert.rejects(worker.stop(50), (error) => error.code === 'timeout' && error.fields.jobs === id);
});

test('progress, logs and cancelling', async () => {
  const queue = fresh();
  const { id } = await queue.add(1);
  const worker = work(queue, async (job) => {
    await job.progress({ at: 1 });
    await job.progress({ at: 2 });
    await job.log('a line');
    await job.log('größe');
    await new Promise((resolve) => job.signal.addEventListener('abort', resolve));
    return job.signal.reason;
  });
  await eventually(async () => (await queue.logs(id)).length === 2, 'both lines are there');
  assert.deepEqual(await queue.logs(id), ['a line', 'größe']);
  assert.equal((await queue.job(id)).progress.toString(), '{"at":2}');
  assert.equal(worker.cancel('nobody'), false);
  assert.equal(worker.cancel(id), true);
  assert.equal((await stateIs(queue, id, 'completed')).result.toString(), '"cancelled"');
  await worker.stop();
});

test('a handler replaces the data of its job, and not after it lost it', async () => {
  const queue = fresh();
  const { id } = await queue.add({ at: 0 });
  const told = [];
  let go;
  const taken = new Promise((resolve) => (go = resolve));
  const worker = work(queue, async (job) => {
    await job.update({ at: 1 });
    told.push(job.text);
    await taken;
    for (const write of [() => job.update({ at: 2 }), () => job.log('a line')])
      await write().catch((error) => told.push(error.code));
    await job.progress(2);
    told.push(job.signal.reason);
  });
  await eventually(async () => (await queue.job(id)).data.toString() === '{"at":1}', 'the data is replaced');
  await server.raw.zadd(`emq:{${queue.name}}:active`, 'XX', '4000000000000001', id);
  go();
  await eventually(() => worker.stats.refused === 1, 'the result is refused');
  assert.deepEqual(told, ['{"at":0}', 'stale', 'stale', 'lease_lost']);
  const info = await queue.job(id);
  assert.equal(info.data.toString(), '{"at":1}');
  assert.equal(info.progress.length, 0);
  await worker.stop();
});

test('a lease that went to another stops the handler and refuses its result', async () => {
  const queue = fresh();
  const { id } = await queue.add(1);
  let reason;
  const worker = work(
    queue,
    (job) =>
      new Promise((resolve) =>
        job.signal.addEventListener('abort', () => {
          reason = job.signal.reason;
          resolve('too late');
        }),
      ),
    { lease: 2_000 },
  );
  await stateIs(queue, id, 'active');
  await server.raw.zadd(`emq:{${queue.name}}:active`, 'XX', '4000000000000001', id);
  await eventually(() => worker.stats.refused === 1, 'the result is refused');
  assert.equal(reason, 'lease_lost');
  assert.equal((await queue.job(id)).result, undefined);
  await worker.stop();
});

test('the job of a dead worker is taken back, and alone among its like', async () => {
  const queue = fresh();
  const { id } = await queue.add(1);
  const dead = await connect(server.url);
  new Worker(dead, queue.name, () => new Promise(() => undefined), { lease: 2_000 });
  await stateIs(queue, id, 'active');
  // As a process that was killed: its connection is gone, and nobody says anything for it any more.
  dead.core.main.close();
  dead.core.emit('close');
  const worker = work(queue, (job) => job.crashes, { lease: 2_000, maxCrashes: 5 });
  const job = await stateIs(queue, id, 'completed');
  assert.deepEqual([job.crashes, job.attemptsMade, job.attemptsStarted], [1, 1, 2]);
  assert.equal(job.result.toString(), '1');
  assert.equal(worker.stats.recovered, 1);
  await worker.stop();
});

test('cut connections and a forgetful server lose nothing and double nothing', async () => {
  const queue = fresh();
  const counted = new Map();
  const total = 2_000;
  const worker = work(queue, (job) => void counted.set(job.id, (counted.get(job.id) ?? 0) + 1), { concurrency: 20 });
  const adding = (async () => {
    for (let i = 0; i < total; i += 100)
      for (const result of await queue.addBulk(Array.from({ length: 100 }, () => ({}))))
        assert.ok(result.ok, result.error?.message);
  })();
  for (let cut = 0; cut < 5; ++cut) {
    await eventually(() => counted.size > (cut * total) / 8, 'it goes on');
    await server.raw.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await server.raw.script('FLUSH');
  }
  await adding;
  await eventually(async () => counted.size === total && (await queue.counts()).active === 0, 'all are worked', 20_000);
  const { waiting, completed, failed } = await queue.counts();
  assert.deepEqual([waiting, completed, failed], [0, 1_000, 0]);
  assert.deepEqual(
    [...counted.values()].filter((times) => times !== 1),
    [],
  );
  await worker.stop();
});

test('an end whose answer was lost counts as unknown when the job is gone', async () => {
  const mute = new Set(); // sockets whose answers are swallowed from now on
  const sockets = new Set();
  const relay = createServer((near) => {
    const far = createConnection(server.path);
    for (const socket of [near, far])
      socket.on('error', () => undefined).on('close', () => (near.destroy(), far.destroy()));
    near.pipe(far);
    far.on('data', (bytes) => mute.has(near) || near.write(bytes));
    sockets.add(near);
    near.once('close', () => sockets.delete(near));
  });
  await new Promise((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const far = await connect(`redis://127.0.0.1:${relay.address().port}`);
  const queue = fresh();
  const worker = new Worker(
    far,
    queue.name,
    (job) => job.json() === 'lost' && sockets.forEach((socket) => mute.add(socket)),
    { keepCompleted: { count: 0 } },
  );
  // The server knows the scripts after the first one, so the end that is lost is run.
  await queue.add('first');
  await eventually(() => worker.stats.completed === 1, 'the first has ended');
  const { id } = await queue.add('lost');
  await eventually(async () => (await server.raw.exists(`emq:{${queue.name}}:${id}`)) === 0, 'the job has ended');
  mute.forEach((socket) => socket.destroy());
  await eventually(() => worker.stats.unknown === 1, 'it is said again');
  assert.deepEqual([worker.stats.completed, worker.stats.refused], [1, 0]);
  await worker.stop();
  await far.close();
  relay.close();
});

test('kept jobs are counted, dropped ones are gone, and trash is emptied', async () => {
  const queue = fresh();
  const { id } = await queue.add(1, { keepCompleted: { count: 0 } });
  await queue.addBulk(Array.from({ length: 500 }, () => ({})));
  await work(queue, () => undefined, { concurrency: 50, keepCompleted: { count: 10 }, stopWhenEmpty: true }).stopped;
  assert.equal((await queue.counts()).completed, 10);
  await assert.rejects(queue.job(id), { code: 'not_found' });
  await eventually(async () => (await server.raw.scard(`emq:{${queue.name}}:trash`)) === 0, 'trash is empty');
  const keys = await server.raw.keys(`emq:{${queue.name}}:3*`);
  assert.equal(keys.length, 10);
});

test('what is kept for the end of the owner comes after it', async () => {
  const queue = fresh();
  const rule = { deduplication: { id: 'sync', keepLast: true } };
  let end;
  const ran = [];
  const worker = work(queue, (job) => {
    ran.push(job.json());
    return ran.length === 1 ? new Promise((resolve) => (end = resolve)) : undefined;
  });
  await queue.add('first', rule);
  await eventually(() => end, 'it runs');
  await queue.add('second', rule);
  await queue.add('third', rule);
  end();
  await eventually(() => ran.length === 2, 'the kept one runs');
  assert.deepEqual(ran, ['first', 'third']);
  await worker.stop();
});

test('bad options are refused at once', () => {
  for (const options of [{ concurrency: 0 }, { lease: 1 }, { poll: 5 }, { maxCrashes: -1 }, { name: 'x'.repeat(256) }])
    assert.throws(
      () => new Worker(mq, 'mail', () => undefined, options),
      (error) => error instanceof EchoMQError && error.code === 'invalid_argument',
    );
});

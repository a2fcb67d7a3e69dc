// SPDX-License-Identifier: MIT
// Adding jobs and looking after them.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Queue, Worker, connect } from '../dist/index.mjs';
import { startServer } from './server.mjs';
import { fresh, mq, server } from './shared.mjs';

const refusedAs =
  (code, more = {}) =>
  (error) => {
    assert.equal(error.name, 'EchoMQError');
    assert.equal(error.code, code, error.message);
    for (const [field, value] of Object.entries(more)) assert.equal(error.fields[field], value);
    return true;
  };
// How often scripts were called on the server since it began.
async function calls(command) {
  const info = await server.raw.info('commandstats');
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(info)?.[1] ?? 0);
}

test('a job is what its add said', async () => {
  const queue = fresh();
  const options = { attempts: 3, backoff: { type: 'fixed', delay: 10 }, priority: 7, delay: 60_000 };
  const { id, deduplicated } = await queue.add({ to: 'you' }, { ...options, name: 'größe' });
  assert.equal(deduplicated, false);
  const job = await queue.job(id);
  assert.equal(job.state, 'delayed');
  assert.deepEqual(job.options, options);
  assert.equal(job.name, 'größe');
  assert.equal(job.data.toString(), '{"to":"you"}');
  assert.ok(Math.abs(job.dueMs - job.addedMs - 60_000) < 2, 'due when its delay is over');
  assert.ok(Math.abs(job.addedMs - Date.now()) < 5_000, 'added by the clock of the server');
});

test('bytes are stored as they are, nothing as nothing, the rest as JSON', async () => {
  const queue = fresh();
  const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  const cases = [
    [every, every],
    [new Uint8Array([0, 255]), Buffer.from([0, 255])],
    [new Uint16Array([1]).buffer, Buffer.from([1, 0])],
    [every.subarray(3, 7), every.subarray(3, 7)],
    [undefined, Buffer.alloc(0)],
    ['größe 🚀', Buffer.from('"größe 🚀"')],
    [null, Buffer.from('null')],
    [9007199254740991, Buffer.from('9007199254740991')],
  ];
  for (const [given, stored] of cases) {
    const { id } = await queue.add(given);
    assert.deepEqual((await queue.job(id)).data, stored);
  }
  await assert.rejects(queue.add(1n), refusedAs('invalid_argument'));
  await assert.rejects(
    queue.add(() => 1),
    refusedAs('invalid_argument'),
  );
});

test('ids are decimal strings above 2^53, and no numbers', async () => {
  const queue = fresh();
  const { id } = await queue.add();
  assert.match(id, /^\d{18,19}$/);
  assert.ok(BigInt(id) > 2n ** 53n);
  await assert.rejects(queue.job(Number(id)), refusedAs('invalid_name'));
  assert.match(await mq.mintId(), /^\d{18,19}$/);
});

test('bad options are refused before anything is sent', async () => {
  const queue = fresh();
  const bad = [
    [{ attempts: 0 }, 'attempts'],
    [{ attempts: '3' }, 'attempts'],
    [{ delay: 1.5 }, 'delay'],
    [{ priorty: 1 }, 'priorty'],
    [{ lifo: 1 }, 'lifo'],
    [{ keepCompleted: { age: -1 } }, 'keepCompleted.age'],
    [{ backoff: { type: 'linear', delay: 1 } }, 'backoff.type'],
  ];
  for (const [options, option] of bad)
    await assert.rejects(queue.add(1, options), refusedAs('invalid_argument', { option }));
  await assert.rejects(queue.add(1, { name: '\ud800' }), refusedAs('encoding'));
  await assert.rejects(queue.add(Buffer.alloc(2 ** 20 + 1)), refusedAs('too_large'));
  const bulk = queue.addBulk([{ data: 1 }, { data: 2, options: { attempts: 0 } }]);
  await assert.rejects(bulk, refusedAs('invalid_argument', { index: '1' }));
  await assert.rejects(queue.counts(), refusedAs('not_found'));
});

test('many jobs at once travel in few calls, in their order', async () => {
  const queue = fresh();
  await queue.open();
  const beforehand = (await calls('evalsha')) + (await calls('eval'));
  const results = await queue.addBulk(Array.from({ length: 1_000 }, (_, i) => ({ data: i })));
  const took = (await calls('evalsha')) + (await calls('eval')) - beforehand;
  assert.ok(took <= 5, `1,000 jobs took ${took} calls`);
  const ids = results.map((result) => result.id);
  assert.deepEqual(await server.raw.lrange(`emq:{${queue.name}}:wait`, 0, -1), ids);
  // So do single adds that are made in one go.
  const more = await Promise.all(Array.from({ length: 100 }, (_, i) => queue.add(i)));
  const since = (await calls('evalsha')) + (await calls('eval')) - beforehand - took;
  assert.ok(since <= 2, `100 adds took ${since} calls`);
  assert.equal(new Set([...ids, ...more.map((added) => added.id)]).size, 1_100);
});

test('an own id is once, and refusals are told one by one', async () => {
  const queue = fresh();
  const results = await queue.addBulk([
    { data: 1, options: { id: 'a' } },
    { data: 2, options: { id: 'a' } },
    { data: 3 },
  ]);
  assert.equal(results[0].id, 'a');
  assert.equal(results[1].error.code, 'duplicate');
  assert.ok(results[2].ok);
  assert.equal((await queue.job('a')).data.toString(), '1');
});

test('a deduplication id has one owner at a time', async () => {
  const queue = fresh();
  const rule = { deduplication: { id: 'x' } };
  const first = await queue.add(1, rule);
  assert.deepEqual(await queue.add(2, rule), { id: first.id, deduplicated: true });
  await queue.remove(first.id);
  const second = await queue.add(3, rule);
  assert.notEqual(second.id, first.id);
  // Another process learns who owns it by its first add.
  const other = await connect(server.url);
  assert.deepEqual(await new Queue(other, queue.name).add(4, rule), { id: second.id, deduplicated: true });
  await other.close();
});

test('a script that the server has forgotten is sent again', async () => {
  const queue = fresh();
  await queue.add(1);
  await server.raw.script('FLUSH');
  const { id } = await queue.add(2);
  assert.equal((await queue.job(id)).state, 'waiting');
});

test('jobs are counted, paused and removed', async () => {
  const queue = fresh();
  const [one] = await queue.addBulk([{}, { options: { priority: 1 } }, { options: { delay: 1_000 } }]);
  assert.equal(await queue.pause(), true);
  assert.equal(await queue.pause(), false);
  const { waiting, prioritized, delayed, active, paused } = await queue.counts();
  assert.deepEqual([waiting, prioritized, delayed, active, paused], [1, 1, 1, 0, true]);
  assert.equal(await queue.resume(), true);
  await queue.remove(one.id);
  await assert.rejects(queue.remove(one.id), refusedAs('not_found'));
  await assert.rejects(queue.job(one.id), refusedAs('not_found'));
  assert.equal((await queue.counts()).waiting, 0);
});

test('a job is removed from the middle of a long line', async () => {
  const queue = fresh();
  const results = await queue.addBulk(Array.from({ length: 3_000 }, () => ({})));
  await queue.remove(results[1_500].id);
  assert.equal((await queue.counts()).waiting, 2_999);
});

test('a job that stands in no state is removed, and its id is free', async () => {
  const queue = fresh();
  await queue.add('first', { id: 'mine' });
  await server.raw.del(`emq:{${queue.name}}:wait`);
  await assert.rejects(queue.add('second', { id: 'mine' }), refusedAs('duplicate'));
  await queue.remove('mine');
  await assert.rejects(queue.remove('mine'), refusedAs('not_found'));
  await queue.add('second', { id: 'mine' });
  assert.equal((await queue.counts()).waiting, 1);
});

test('data is replaced', async () => {
  const queue = fresh();
  const { id } = await queue.add(1);
  await queue.update(id, { n: 2 });
  assert.equal((await queue.job(id)).data.toString(), '{"n":2}');
  await assert.rejects(queue.update('nobody', 1), refusedAs('not_found'));
});

test('adds over the buffer limit are refused, not held', async () => {
  const small = await connect(server.url, { bufferLimit: 2 ** 20 });
  const queue = new Queue(small, 'buffered');
  const adds = Array.from({ length: 20 }, () => queue.add(Buffer.alloc(100_000)));
  const results = await Promise.allSettled(adds);
  const refused = results.filter(({ status }) => status === 'rejected');
  assert.ok(refused.length > 5 && refused.every(({ reason }) => reason.code === 'backpressure'));
  await small.close();
});

test('queues have names, and either form is one queue', async () => {
  assert.throws(() => new Queue(mq, 'emq'), refusedAs('invalid_name', { value: 'emq' }));
  const { id } = await new Queue(mq, '{same}').add(1);
  assert.equal((await new Queue(mq, 'same').job(id)).id, id);
  assert.ok((await mq.queues()).includes('same'));
});

test('a full server refuses adds and lets workers go on', async () => {
  const own = await startServer();
  const client = await connect(own.url);
  const queue = new Queue(client, 'full');
  await queue.addBulk(Array.from({ length: 10 }, () => ({ data: Buffer.alloc(10_000) })));
  await own.raw.config('SET', 'maxmemory', '1mb');
  await assert.rejects(queue.add(Buffer.alloc(100_000)), refusedAs('full'));
  const worker = new Worker(client, 'full', () => undefined, { stopWhenEmpty: true });
  await worker.stopped;
  assert.equal(worker.stats.completed, 10);
  await client.close();
  await own.stop();
});

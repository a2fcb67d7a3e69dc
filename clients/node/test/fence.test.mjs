// SPDX-License-Identifier: MIT
// Contact with another wire is a typed error and changes nothing, before and while a queue is used; and what
// cannot be connected to says why.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Queue, QueueEvents, Worker, connect } from '../dist/index.mjs';
import { startServer } from './server.mjs';
import { mq, server } from './shared.mjs';

const dump = async () => {
  const keys = (await server.raw.keys('*')).filter((key) => !key.startsWith('{emq}')).sort();
  return Promise.all(keys.map(async (key) => [key, (await server.raw.dumpBuffer(key)).toString('hex')]));
};
const fence = (found) => (error) => {
  assert.equal(error.code, 'fence', error.message);
  assert.match(error.fields.found, found);
  return true;
};

test('a v1 queue under each prefix is refused, and stays as it is', async () => {
  for (const prefix of ['bull', 'emq']) {
    await server.raw.hset(`${prefix}:old-${prefix}:meta`, 'version', 'bullmq:5.65.1');
    const before = await dump();
    await assert.rejects(new Queue(mq, `old-${prefix}`).add(1), fence(/^bullmq:5\.65\.1$/));
    assert.deepEqual(await dump(), before);
  }
  // v1 needs braces in a cluster.
  await server.raw.hset('bull:{braced}:meta', 'version', 'bullmq:5.65.1');
  await server.raw.zadd('bull:{timed}:delayed', 1, '1');
  const before = await dump();
  await assert.rejects(new Queue(mq, 'braced').add(1), fence(/^bullmq:5\.65\.1$/));
  await assert.rejects(new Queue(mq, 'timed').add(1), fence(/v1 queue \(zset\)/));
  assert.deepEqual(await dump(), before);
  await server.raw.rpush('bull:nameless:wait', '1');
  await assert.rejects(new Queue(mq, 'nameless').add(1), fence(/v1 queue \(list\)/));
  // Those who run both beside each other say so.
  const beside = await connect(server.url, { v1Prefixes: [] });
  await new Queue(beside, 'nameless').add(1);
  await beside.close();
});

test('keys without a meta and a newer revision are refused by every script', async () => {
  await server.raw.rpush('emq:{strange}:wait', '1');
  await assert.rejects(new Queue(mq, 'strange').add(1), fence(/keys of the queue without a meta/));
  const queue = new Queue(mq, 'newer');
  const { id } = await queue.add(1);
  await server.raw.hset('emq:{newer}:meta', 'min_revision', '999');
  const before = await dump();
  for (const act of [
    () => queue.add(1),
    () => queue.counts(),
    () => queue.job(id),
    () => queue.remove(id),
    () => queue.pause(),
  ])
    await assert.rejects(act(), fence(/^revision 999$/));
  assert.deepEqual(await dump(), before);
});

test('it stops a worker and a listener that are at work', async () => {
  const queue = new Queue(mq, 'taken-over');
  await queue.add(1);
  const worker = new Worker(mq, 'taken-over', () => undefined, { poll: 100 });
  const events = new QueueEvents(mq, 'taken-over', { poll: 100 });
  await Promise.all([worker.ready(), events.ready()]);
  await server.raw.hset('emq:{taken-over}:meta', 'version', 'echomq:3.0.0');
  await assert.rejects(worker.stopped, fence(/^echomq:3\.0\.0$/));
  await assert.rejects(events.stopped, fence(/^echomq:3\.0\.0$/));
});

test('a deployment of another version is refused at connect', async () => {
  const other = await startServer();
  await other.raw.set('{emq}:version', 'echomq:3.0.0');
  await assert.rejects(connect(other.url), fence(/^echomq:3\.0\.0$/));
  await other.stop();
});

test('a key of a foreign type is told by its name', async () => {
  const queue = new Queue(mq, 'typed');
  await queue.add(1);
  await server.raw.del('emq:{typed}:wait');
  await server.raw.set('emq:{typed}:wait', 'x');
  await assert.rejects(queue.add(1), { code: 'wrong_type' });
});

test('what cannot be connected to says why', async () => {
  await assert.rejects(connect('unix:///nowhere/s', { connectTimeout: 200 }), { code: 'unavailable' });
  await assert.rejects(connect('http://localhost'), { code: 'invalid_url' });
  await assert.rejects(connect(`${server.url}?db=99`), { code: 'invalid_url' });
  await assert.rejects(connect(server.url, { commandTimeout: 0 }), { code: 'invalid_argument' });
  const closed = await startServer('--requirepass', 'secret');
  await assert.rejects(connect(closed.url), { code: 'denied' });
  const opened = await connect(`unix://:secret@${closed.path}`);
  assert.doesNotMatch(opened.url, /secret/);
  await opened.close();
  await closed.stop();
  const evicting = await startServer('--maxmemory-policy', 'allkeys-lru');
  await assert.rejects(connect(evicting.url), { code: 'config' });
  await (await connect(evicting.url, { allowEviction: true })).close();
  await evicting.stop();
});

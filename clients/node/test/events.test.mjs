// SPDX-License-Identifier: MIT
// Listening: each event once and in order, and what was missed is told.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { QueueEvents, Worker } from '../dist/index.mjs';
import { eventually } from './server.mjs';
import { fresh, mq, server } from './shared.mjs';

async function listen(queue, from) {
  const events = new QueueEvents(mq, queue.name, { from });
  const heard = [];
  events.on('event', (event) => heard.push(event));
  await events.ready();
  return { events, heard };
}

test('every step of every job, in order, from before there was a queue', async () => {
  const queue = fresh();
  const { events, heard } = await listen(queue);
  const completed = [];
  events.on('completed', ({ job }) => completed.push(job));
  const ids = (await queue.addBulk(Array.from({ length: 300 }, () => ({})))).map(({ id }) => id);
  await new Worker(mq, queue.name, () => undefined, { concurrency: 30, stopWhenEmpty: true }).stopped;
  await eventually(() => completed.length === 300, 'all are told');
  assert.deepEqual(
    heard.filter(({ type }) => type === 'added').map(({ job }) => job),
    ids,
  );
  assert.deepEqual([...completed].sort(), [...ids].sort());
  assert.equal(new Set(heard.map(({ id }) => id)).size, heard.length);
  await events.close();
});

test('from any event on, none is missed and none comes twice', async () => {
  const queue = fresh();
  await queue.addBulk([{}, {}, {}]);
  await queue.pause();
  const all = await listen(queue, 'beginning');
  await eventually(() => all.heard.length === 4, 'all are heard');
  assert.deepEqual(
    all.heard.map(({ name }) => name),
    ['added', 'added', 'added', 'paused'],
  );
  for (let i = 0; i < 4; ++i) {
    const { events, heard } = await listen(queue, { after: all.heard[i].id });
    await eventually(() => heard.length === 3 - i, `those behind ${all.heard[i].id}`);
    assert.deepEqual(heard, all.heard.slice(i + 1));
    await events.close();
  }
  await all.events.close();
});

test('a cut connection costs nothing, what was trimmed is a gap', async () => {
  const queue = fresh();
  const { events, heard } = await listen(queue);
  for (let cut = 0; cut < 3; ++cut) {
    await queue.add(cut);
    await server.raw.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  }
  await queue.add('last');
  await eventually(() => heard.length >= 4, 'all are heard');
  assert.deepEqual(
    heard.map(({ type }) => type),
    ['added', 'added', 'added', 'added'],
  );
  const place = events.lastId;
  await events.close();
  await queue.addBulk([{}]);
  await queue.addBulk([{}]);
  await server.raw.xtrim(`emq:{${queue.name}}:events`, 'MAXLEN', 1);
  const late = await listen(queue, { after: place });
  await eventually(() => late.heard.length === 2, 'the gap and the rest');
  assert.deepEqual(
    late.heard.map(({ type, missed }) => [type, missed]),
    [
      ['gap', 1],
      ['added', 0],
    ],
  );
  await late.events.close();
});

test('a bad place is refused', () => {
  for (const from of ['then', { after: 'x' }, { after: '0-1' }])
    assert.throws(() => new QueueEvents(mq, 'mail', { from }), { code: 'invalid_argument' });
});

// SPDX-License-Identifier: MIT
// When a worker claims, waits, keeps the time and ends. No server.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

const require = createRequire(import.meta.url);
const { Lifecycle } = require('../dist/lifecycle.js');
const { AddBatcher, MAX_BATCH_JOBS } = require('../dist/add_batcher.js');
const { Oldest } = require('../dist/oldest.js');

const POLL = 5_000;
const begun = (concurrency = 1, stopWhenEmpty = false) => {
  const life = new Lifecycle(concurrency, stopWhenEmpty, POLL);
  life.connected();
  return life;
};
const nothing = { asked: 1, taken: 0, ready: 0, dueMs: 0, anyoneActive: false, open: true, opensMs: 0 };
const kinds = (life, nowMs = 0) => {
  const all = [];
  for (let action = life.next(nowMs); action && all.length < 10; action = life.next(nowMs)) all.push(action.kind);
  return all;
};

test('it claims first, blocks when there is nothing, and claims when it is woken', () => {
  const life = begun(2);
  assert.deepEqual(life.next(0), { kind: 'claim', count: 2 });
  assert.equal(life.next(0), undefined);
  life.claimed({ ...nothing, asked: 2 }, 0);
  assert.deepEqual(kinds(life), ['block']);
  life.woken();
  assert.deepEqual(kinds(life), ['claim']);
  life.claimed({ ...nothing, asked: 2, taken: 2 }, 0);
  assert.deepEqual(kinds(life), []);
  life.slotFreed();
  assert.deepEqual(kinds(life), ['claim']);
});

test('a wake that finds no free slot goes back', () => {
  const life = begun();
  life.next(0);
  life.claimed(nothing, 0);
  life.next(0);
  life.lookAgain();
  assert.deepEqual(kinds(life), ['claim']);
  life.claimed({ ...nothing, taken: 1 }, 0);
  life.woken();
  assert.deepEqual(kinds(life), ['putWake']);
});

test('it keeps the time of a timer and of a gate, and hands both over at its end', () => {
  const life = begun();
  life.next(0);
  life.claimed(nothing, 0);
  life.next(0);
  life.became('timer', 100, 0);
  assert.deepEqual(kinds(life, 50), ['block']);
  assert.equal(life.timerMs, 100);
  assert.deepEqual(kinds(life, 100), ['promote']);
  life.promoted(false);
  life.became('gate', 200, 100);
  life.became('timer', 300, 100);
  life.stop();
  assert.deepEqual(kinds(life, 150), ['putTimer', 'putGate']);
});

test('a closed gate is not asked again before it opens', () => {
  const life = begun();
  life.next(0);
  life.claimed({ ...nothing, ready: 5, open: false, opensMs: 100 }, 0);
  assert.deepEqual(kinds(life), ['block']);
  life.became('gate', 100, 0);
  assert.deepEqual(kinds(life, 50), ['block']);
  assert.deepEqual(kinds(life, 100), ['claim']);
});

test('the tick of a scheduler goes back when it is due, and later when nobody else wants it', () => {
  const life = begun();
  life.next(0);
  life.claimed(nothing, 0);
  life.next(0);
  life.became('tick', 10_000, 0);
  assert.deepEqual(kinds(life, 9_999), ['block']);
  assert.deepEqual(life.next(10_000), { kind: 'putTick', dueMs: 10_000 });
  life.became('tick', 10_000, 10_001);
  assert.deepEqual(kinds(life, 10_002), ['block']);
  assert.deepEqual(kinds(life, 10_001 + POLL), ['putTick']);
  life.became('tick', 20_000, 16_000);
  life.stop();
  assert.deepEqual(life.next(16_001), { kind: 'putTick', dueMs: 20_000 });
});

test('one that stops when empty does so when nobody works any more', () => {
  const life = begun(1, true);
  life.next(0);
  life.claimed({ ...nothing, anyoneActive: true }, 0);
  assert.deepEqual(kinds(life), ['block']);
  life.blockTimedOut();
  life.next(0);
  life.claimed(nothing, 0);
  assert.equal(life.next(0).kind, 'drained');
});

test('adds travel at once when idle, and together while a flush is on its way', () => {
  const batcher = new AddBatcher();
  const push = (count) => {
    for (let i = 0; i < count; ++i) batcher.push({ bytes: 132 });
  };
  push(1);
  assert.equal(batcher.next().adds.length, 1);
  push(10);
  assert.equal(batcher.next(), undefined);
  push(MAX_BATCH_JOBS);
  const second = batcher.next();
  assert.deepEqual([second.lane, second.adds.length], [1, MAX_BATCH_JOBS]);
  assert.equal(batcher.next(), undefined);
  batcher.done(0);
  assert.equal(batcher.next(), undefined, 'one that is not full waits while the other lane is busy');
  batcher.done(1);
  assert.equal(batcher.next().adds.length, 10);
  batcher.push({ bytes: 300 * 1024 });
  push(1);
  batcher.done(0);
  assert.equal(batcher.next().adds.length, 1, 'a larger one goes alone');
});

test('the oldest are given out once, and not asked for where others delete them', () => {
  const oldest = new Oldest(2);
  assert.deepEqual(oldest.take(5), []);
  assert.equal(oldest.peek(), 4);
  oldest.seen(0, 0, ['a', 'b', 'c', 'd']);
  assert.deepEqual(oldest.take(5), ['a', 'b']);
  assert.deepEqual(oldest.take(1), ['c']);
  oldest.seen(2, 1, []);
  assert.deepEqual(oldest.take(5), []);
  assert.equal(oldest.peek(), 0);
});

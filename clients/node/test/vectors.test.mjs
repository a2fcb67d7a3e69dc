// SPDX-License-Identifier: MIT
// The vectors of test/vectors, which the C++ tests run too (test/unit/*/vectors_test.cc).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import { optionsOf } from '../fleet/options.mjs';

const require = createRequire(import.meta.url);
const part = (name) => require(`../dist/${name}.js`);
const vectors = (name) => JSON.parse(readFileSync(new URL(`../../../test/vectors/${name}.json`, import.meta.url)));
const fails = (act) => assert.throws(act, { name: 'EchoMQError', code: 'invalid_name' });

test('names', () => {
  const { queueName, checkJobId, checkAnyJobId } = part('keyspace');
  const all = vectors('names');
  for (const { given, name } of all.queue_names) assert.equal(queueName(given), name);
  for (const name of all.bad_queue_names) fails(() => queueName(name));
  for (const id of all.job_ids) checkJobId(id);
  for (const id of all.bad_job_ids) fails(() => checkJobId(id));
  for (const id of all.ids_of_lookups) checkAnyJobId(id);
  for (const id of all.bad_ids_of_lookups) fails(() => checkAnyJobId(id));
});

test('keys', () => {
  const { parseKey, buildKey, slot } = part('keyspace');
  const all = vectors('keys');
  for (const { key, slot: at, means } of all.keys) {
    assert.deepEqual(parseKey(key), means);
    assert.equal(buildKey(parseKey(key)), key);
    assert.equal(slot(key), at);
  }
  for (const key of all.bad_keys) fails(() => parseKey(key));
  for (const { key, slot: at } of all.slots) assert.equal(slot(key), at);
});

test('v1', () => {
  for (const { prefixes, queue, asks } of vectors('v1').looks) {
    const looks = part('v1_names').v1Looks(prefixes, queue);
    assert.deepEqual(looks.map(({ words: [command, ...rest] }) => [command.toUpperCase(), ...rest]), asks);
    for (const look of looks) assert.equal(look.words[1], look.key);
  }
});

test('ids', () => {
  const { brandId, unbrandId, decodeId, isMintedId } = part('id');
  const all = vectors('ids');
  for (const { decimal, branded, ms_since_2024, unix_ms, node, seq } of all.ids) {
    assert.equal(brandId(decimal), branded);
    assert.equal(unbrandId(branded), decimal);
    const parts = { msSince2024: BigInt(ms_since_2024), unixMs: BigInt(unix_ms), node, seq };
    assert.deepEqual(decodeId(decimal), parts);
    assert.deepEqual(decodeId(branded), parts);
  }
  for (const text of all.not_minted) assert.ok(!isMintedId(text), text);
  for (const text of all.not_branded) fails(() => unbrandId(text));
  fails(() => brandId(274557032793636864));
});

test('minting', () => {
  const { Mint } = part('snowflake');
  for (const { steps, last_ms } of vectors('minting').runs) {
    const mint = new Mint();
    for (const step of steps)
      if (step.grant) mint.setGrant(...step.grant);
      else assert.equal(mint.next(step.now) ?? null, step.id);
    assert.equal(mint.lastMs(), last_ms);
  }
});

test('leases', () => {
  const { leaseScore, leaseToken, leaseOf, deadlineFor, expiredBelow } = part('lease');
  const all = vectors('leases');
  for (const { deadline, node, nonce, score, token } of all.leases) {
    const lease = { deadlineS: deadline, node, nonce };
    assert.equal(String(leaseScore(lease)), score);
    assert.equal(leaseToken(lease), token);
    assert.deepEqual(leaseOf(Number(score)), lease);
  }
  for (const { now, lease, deadline } of all.deadlines) assert.equal(deadlineFor(now, lease), deadline);
  for (const { now, below } of all.expired) assert.equal(String(expiredBelow(now)), below);
});

test('clock', () => {
  const { ServerClock } = part('server_clock');
  for (const { about, samples, asks } of vectors('clock').runs) {
    const clock = new ServerClock();
    for (const sample of samples) clock.sample(...sample);
    for (const [mono, ms] of asks) assert.equal(clock.nowMs(mono), ms, about);
  }
});

test('refusals', () => {
  const { refusal, isAbsent, isNotReady } = part('refusal');
  const all = vectors('refusals');
  for (const { line, code, found, expected, absent } of all.refusals) {
    const error = refusal(line, all.queue, all.probe);
    assert.equal(error.code, code, line);
    assert.equal(error.fields.found, found);
    assert.equal(error.fields.expected ?? null, expected);
    assert.equal(error.fields.queue, all.queue);
    assert.equal(isAbsent(error), absent);
  }
  for (const { line, not_ready } of all.not_ready) assert.equal(isNotReady(line), not_ready, line);
});

test('statuses', () => {
  const { addResult, removeError, writeError, endStatus, countedAs } = part('statuses');
  const { queue, statuses } = vectors('refusals');
  const { id, owner } = statuses;
  for (const { status, code, ...told } of statuses.adds) {
    const result = addResult(status, { queue, id, owner, node: 3 });
    if (code === null) {
      assert.deepEqual(result, { id: told.added, deduplicated: told.deduplicated }, status);
    } else {
      assert.equal(result.code, code, status);
      assert.equal(result.fields.value ?? null, told.value);
      assert.equal(result.fields.queue, queue);
    }
  }
  for (const [of, error] of [['removes', removeError], ['writes', writeError]])
    for (const { status, code } of statuses[of]) assert.equal(error(status, queue, id)?.code ?? null, code, status);
  for (const { kind, status, again, counts } of statuses.ends)
    assert.equal(countedAs(kind, endStatus(status, again)) ?? null, counts, `${kind} ${status} ${again}`);
});

const encode = (options) => part('options').encodeJob(Buffer.from('d'), optionsOf(options), 1024);

test('options', () => {
  const all = vectors('options');
  for (const { options, opts } of all.encoded) assert.equal(encode(options).opts, opts);
  for (const { options, code } of all.bad) assert.throws(() => encode(options), { code }, JSON.stringify(options));
  for (const { text, options, parent } of all.decoded)
    assert.deepEqual(part('options').decodeOpts(text), { options: optionsOf(options), parent }, text);
});

test('records', () => {
  const { readHead, readRuns, shapesOf, endsOf } = part('record');
  const all = vectors('records');
  for (const { text, head } of all.heads) {
    const { added_ms: addedMs, ...rest } = head ?? {};
    assert.deepEqual(readHead(Buffer.from(text)), head ? { addedMs, ...rest } : undefined, text);
  }
  for (const { text, run } of all.runs)
    assert.deepEqual(
      readRuns(Buffer.from(text)),
      run
        ? {
            claimsEnded: run.claims_ended,
            attemptsMade: run.attempts_made,
            crashes: run.crashes,
            startedMs: run.started_ms,
            endedMs: run.ended_ms,
            worker: run.worker,
          }
        : undefined,
      text,
    );
  for (const { jobs, shapes } of all.shapes) assert.equal(shapesOf(jobs.map(encode)), shapes);
  for (const { ends, text } of all.ends) {
    const told = ends.map((end) => ({
      lease: end.lease,
      claimsEnded: end.claims_ended,
      attemptsMade: end.attempts_made,
      crashes: end.crashes,
      startedMs: end.started_ms,
      value: Buffer.from(end.value, 'base64'),
    }));
    assert.deepEqual(endsOf(told), Buffer.from(text, 'base64'));
  }
});

test('backoff', () => {
  for (const { backoff, failures, draw, ms } of vectors('backoff').delays)
    assert.equal(part('options').backoffDelay(backoff ?? undefined, failures, draw), ms);
});

test('events', () => {
  const { readEntry, parsePosition } = part('event_stream');
  const all = vectors('events');
  for (const { id, fields, events } of all.entries) {
    const read = readEntry(
      id,
      fields.map((field) => Buffer.from(field)),
    ).events;
    assert.deepEqual(
      read.map(({ atMs, payload, missed: _, ...rest }) => ({ ...rest, payload: payload.toString(), at_ms: atMs })),
      events,
    );
  }
  for (const { id, position } of all.positions) {
    const parsed = parsePosition(id);
    assert.deepEqual(parsed ? [parsed.entry, parsed.skip] : null, position, id);
  }
});

test('outbox', () => {
  const { readMessage } = part('relay');
  for (const { field, text, message } of vectors('outbox').entries) {
    const read = readMessage(field, Buffer.from(text));
    const told = read && {
      child: read.child,
      parent_queue: read.parentQueue,
      parent: read.parent,
      epoch: read.epoch,
      kind: read.kind,
      stamp_ms: read.stampMs,
      policy: read.policy,
      value: read.value.toString(),
    };
    assert.deepEqual(told ?? null, message, `${field} ${text}`);
  }
});

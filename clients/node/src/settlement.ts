// SPDX-License-Identifier: MIT
// Settlement: how an ended attempt is told to the server, decided from the handler's outcome and the job's
// options. Pure.
import { Job } from './job.js';
import { Keep, MAX_DELAY_MS, MAX_REASON_BYTES, MAX_RESULT_BYTES, backoffDelay, encodeData } from './options.js';
import { Outcome } from './outcome.js';

const MAX_HOLD_MS = 30 * 86_400_000;

export type SettlementKind = 'complete' | 'fail' | 'retry' | 'release';

export interface Settlement {
  job: Job;
  kind: SettlementKind;
  value: Buffer; // the result, or the reason
  delay: number; // retry: ms to wait
  hold: number; // release: ms that the queue is held
  attemptsMade: number; // to be stored
  attemptsStarted: number;
  keep: Required<Keep>; // complete, fail: the rule of retention
  order: number; // of its claim
  startedMs: number; // by the server's clock; 0: it was not run
}

export interface SettleRules {
  keepCompleted: Required<Keep>;
  keepFailed: Required<Keep>;
  maxStarts: number;
}

const NO_RULE = { count: 0, age: 0, bytes: 0 };
const clamp = (value: number, least: number, most: number): number =>
  Math.min(Math.max(Math.round(Number.isFinite(value) ? value : 0), least), most);

// Settlements that may travel in one call.
export function travelTogether(a: Settlement, b: Settlement): boolean {
  const sameRule = a.keep.count === b.keep.count && a.keep.age === b.keep.age && a.keep.bytes === b.keep.bytes;
  if (a.kind !== b.kind || a.hold !== b.hold || !sameRule) return false;
  return !endsJob(a) || (a.job.parent === '') === (b.job.parent === '');
}

export const endsJob = (settlement: Settlement): boolean =>
  settlement.kind === 'complete' || settlement.kind === 'fail';

// Cut to the limit of a reason, not inside a character.
function cutReason(text: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_REASON_BYTES) return bytes;
  let end = MAX_REASON_BYTES;
  while (end > 0 && (bytes[end] & 0xc0) === 0x80) --end;
  return bytes.subarray(0, end);
}

function ended(job: Job, order: number, kind: SettlementKind, value: Buffer, keep: Required<Keep>): Settlement {
  const { attemptsMade, attemptsStarted } = job.record;
  return {
    job,
    order,
    startedMs: job.startedMs,
    kind,
    value,
    delay: 0,
    hold: 0,
    attemptsMade: attemptsMade + 1,
    attemptsStarted: attemptsStarted + 1,
    keep,
  };
}

function failed(job: Job, order: number, reason: Buffer, rules: SettleRules): Settlement {
  return ended(job, order, 'fail', reason, job.record.options.keepFailed ?? rules.keepFailed);
}

// Given back: when it was started that is counted, and it costs no attempt.
export function giveBack(job: Job, order: number, started: boolean): Settlement {
  const released = ended(job, order, 'release', Buffer.alloc(0), NO_RULE);
  return {
    ...released,
    attemptsMade: job.record.attemptsMade,
    attemptsStarted: started ? released.attemptsStarted : 0,
  };
}

// What becomes of a job whose handler ended with `outcome`. `draw` is uniform in [0,1), for the jitter.
export function settle(job: Job, order: number, outcome: Outcome, rules: SettleRules, draw: number): Settlement {
  const { options, attemptsMade, attemptsStarted } = job.record;
  if (outcome.kind === 'done') {
    let result: Buffer;
    try {
      result = encodeData(outcome.value);
    } catch (problem) {
      return failed(job, order, cutReason((problem as Error).message), rules);
    }
    if (result.length > MAX_RESULT_BYTES) {
      const why = `too_large: the result is ${result.length} bytes long; the limit is ${MAX_RESULT_BYTES}`;
      return failed(job, order, Buffer.from(why), rules);
    }
    return ended(job, order, 'complete', result, options.keepCompleted ?? rules.keepCompleted);
  }
  const reason = cutReason(String(outcome.value));
  const starts = attemptsStarted + 1;
  if (
    (outcome.kind === 'retry' || outcome.kind === 'rate_limited') &&
    rules.maxStarts > 0 &&
    starts >= rules.maxStarts
  ) {
    const why = `started ${starts} times and put off each time; max_starts is ${rules.maxStarts}`;
    return failed(job, order, Buffer.from(why), rules);
  }
  if (outcome.kind === 'rate_limited')
    return { ...giveBack(job, order, true), hold: clamp(outcome.delay ?? 1_000, 1, MAX_HOLD_MS) };
  const again = ended(job, order, 'retry', reason, NO_RULE);
  if (outcome.kind === 'retry') return { ...again, attemptsMade, delay: clamp(outcome.delay ?? 0, 0, MAX_DELAY_MS) };
  const failures = attemptsMade + 1;
  if (outcome.kind === 'unrecoverable' || failures >= (options.attempts ?? 1)) return failed(job, order, reason, rules);
  const delay =
    outcome.delay === undefined ? backoffDelay(options.backoff, failures, draw) : clamp(outcome.delay, 0, MAX_DELAY_MS);
  return { ...again, delay };
}

// What becomes of a job that a worker took after it expired; undefined: it has not, and is to be run.
export function expire(job: Job, order: number, rules: SettleRules, nowMs: number): Settlement | undefined {
  const { options, addedMs, attemptsMade } = job.record;
  const waited = nowMs - addedMs;
  if (options.expiresIn === undefined || waited <= options.expiresIn) return undefined;
  const why = `expired: taken ${waited} ms after its add; expires_in is ${options.expiresIn}`;
  return { ...failed(job, order, Buffer.from(why), rules), attemptsMade }; // none was
}

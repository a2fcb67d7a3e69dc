// SPDX-License-Identifier: MIT
// How a handler's attempt ended. A handler returns a value (its result) or an Outcome, or throws: any error is
// a failed attempt, and an Outcome may be thrown too, from wherever that is known.

export type OutcomeKind = 'done' | 'fail' | 'retry' | 'unrecoverable' | 'rate_limited';

export class Outcome {
  private constructor(
    readonly kind: OutcomeKind,
    readonly value: unknown, // of done: the result; else why, as text
    readonly delay?: number, // ms until the next attempt, or for which the queue is held
  ) {}

  // Completed; the result is kept with the job (at most 256 KiB), as the data of a job is.
  static done(result?: unknown): Outcome {
    return new Outcome('done', result);
  }
  // The attempt failed: tried again after its backoff, or after `delay` instead, while attempts are left.
  static fail(reason: string, delay?: number): Outcome {
    return new Outcome('fail', reason, delay);
  }
  // Not now: again after `delay`, without spending an attempt.
  static retryIn(delay: number, reason = 'retry asked for'): Outcome {
    return new Outcome('retry', reason, delay);
  }
  // Failed for good, whatever attempts are left.
  static unrecoverable(reason: string): Outcome {
    return new Outcome('unrecoverable', reason);
  }
  // Not now, and none of this queue: it is held for `duration`, and the job goes back to the front of its line.
  static rateLimited(duration: number): Outcome {
    return new Outcome('rate_limited', 'rate limited', duration);
  }
}

// What was thrown, and what caused it, the outermost first.
export function reasonOf(thrown: unknown, depth = 0): string {
  if (!(thrown instanceof Error)) return typeof thrown === 'string' ? thrown : `the handler threw ${String(thrown)}`;
  const text = thrown.message || thrown.name;
  return thrown.cause === undefined || depth === 16 ? text : `${text}; caused by: ${reasonOf(thrown.cause, depth + 1)}`;
}

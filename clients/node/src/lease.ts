// SPDX-License-Identifier: MIT
// The lease: the score of a job in `active`, and the fencing token of its run (docs/protocol.md, 5.3).
// Below 2^52, so a number holds it exactly; not by bit operators, which cut at 32 bits.
import { ID_EPOCH_MS } from './id.js';

const TOKENS = 2 ** 21;
const NONCES = 2 ** 11;
const MAX_DEADLINE = 2 ** 31 - 1;

export interface Lease {
  deadlineS: number; // since 2024
  node: number; // 0..1023
  nonce: number; // 0..2047
}

export const leaseToken = (lease: Lease): number => lease.node * NONCES + (lease.nonce % NONCES);
export const leaseScore = (lease: Lease): number => lease.deadlineS * TOKENS + leaseToken(lease);

export function leaseOf(score: number): Lease {
  const token = score % TOKENS;
  return { deadlineS: Math.floor(score / TOKENS), node: Math.floor(token / NONCES), nonce: token % NONCES };
}

// Rounded up to whole seconds: never shorter than asked for.
export function deadlineFor(nowMs: number, leaseMs: number): number {
  const endMs = nowMs - ID_EPOCH_MS + leaseMs;
  return endMs <= 0 ? 0 : Math.min(Math.floor((endMs + 999) / 1000), MAX_DEADLINE);
}

// Leases have expired whose score is below this, and no others.
export function expiredBelow(nowMs: number): number {
  if (nowMs <= ID_EPOCH_MS) return 0;
  return Math.min(Math.floor((nowMs - ID_EPOCH_MS) / 1000), MAX_DEADLINE) * TOKENS;
}

// SPDX-License-Identifier: MIT
// A monotonic clock that counts suspend, as leases do: node's own stands still while the machine sleeps, the
// uptime of the system goes on.
import { uptime } from 'node:os';

const LOOK_EVERY_US = 50_000;
const LEAST_SUSPEND_US = 500_000; // below it the two differ by what the system rounds

const nodeUs = (): number => Math.floor(Number(process.hrtime.bigint()) / 1000);
const systemUs = (): number => Math.floor(uptime() * 1_000_000);

let sleptUs = 0;
let lookedAt = nodeUs();
let apart = systemUs() - lookedAt;

export function monotonicUs(): number {
  const now = nodeUs();
  if (now - lookedAt > LOOK_EVERY_US) {
    lookedAt = now;
    const further = systemUs() - now - apart;
    if (further > LEAST_SUSPEND_US) {
      sleptUs += further;
      apart += further;
    }
  }
  return now + sleptUs;
}

export const monotonicMs = (): number => Math.floor(monotonicUs() / 1000);

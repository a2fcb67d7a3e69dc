// SPDX-License-Identifier: MIT
// The leases of a worker: kept while its handlers work, and found again where the answer of a claim was lost
// (docs/protocol.md, sections 5.3 and 5.4).
import { MAX_BATCH_JOBS } from './add_batcher.js';
import { jobWithNothing } from './claimer.js';
import { revision } from './generated/scripts.js';
import { Job } from './job.js';
import { deadlineFor, leaseOf, leaseToken } from './lease.js';
import type { QueueCore } from './queue_core.js';
import { scoredOf, statusOf } from './reply.js';
import { ScriptCall } from './script_call.js';

const PAGE = 500; // of `active`, more than the jobs of one claim, which share a score

// `lost` is called for those whose lease is no longer theirs.
export async function extendLeases(
  queue: QueueCore,
  jobs: readonly Job[],
  leaseMs: number,
  lost: (job: Job) => void,
): Promise<void> {
  for (let from = 0; from < jobs.length; from += MAX_BATCH_JOBS) {
    const batch = jobs.slice(from, from + MAX_BATCH_JOBS);
    const deadline = deadlineFor(queue.client.nowMs(), leaseMs);
    const call = new ScriptCall('job/extend', queue.keys, { revision, deadline, count: batch.length });
    for (const job of batch) call.itemArgs({ id: job.id, token: job.token });
    const reply = await queue.call(call);
    batch.forEach((job, i) => {
      if (statusOf(reply, i) === 'stale') lost(job);
      else job.held.deadlineS = deadline;
    });
  }
}

// Claims of this process that neither a run nor a claim on its way knows of. Of a page backwards, because of
// releases the job that was claimed last is told first.
export async function findLostClaims(queue: QueueCore, found: (job: Job) => void): Promise<void> {
  const { client, keys } = queue;
  for (let from = 0; ;) {
    const page = ['(inf', 'BYSCORE', 'LIMIT', '0', String(PAGE), 'WITHSCORES']; // without the sentinel
    const entries = scoredOf(await client.command('zrange', [keys.active, String(from), ...page]));
    for (const { member, score } of [...entries].reverse()) {
      const lease = leaseOf(score);
      const token = leaseToken(lease);
      const known = queue.isHeld(member, token) || queue.claimsOnTheirWay.has(token);
      if (lease.node !== client.holder.node || known) continue;
      queue.holds(member, token); // so that no later look finds it again
      found(new Job(queue, jobWithNothing(member), lease));
    }
    if (entries.length < PAGE) return;
    const last = entries[PAGE - 1].score;
    from = entries[0].score === last ? last + 1 : last;
  }
}

// SPDX-License-Identifier: MIT
// What the statuses of scripts are to callers (docs/protocol.md, section 4.7). Pure.
import type { AddedJob } from './add_batcher.js';
import { EchoMQError } from './error.js';
import type { SettlementKind } from './settlement.js';

export function noSuchJob(queue: string, id: string): EchoMQError {
  return new EchoMQError('not_found', `queue "${queue}" has no job ${id}`, { queue, value: id });
}

export interface AnsweredAdd {
  queue: string;
  id: string;
  owner: string; // of its deduplication id, where the answer tells it
  node: number; // that minted the id
}

// `moved` is not for callers: the job is added again.
export function addResult(status: string, { queue, id, owner, node }: AnsweredAdd): AddedJob | EchoMQError {
  const fields = { queue, value: id };
  switch (status) {
    case 'ok':
    case 'done':
      return { id, deduplicated: false };
    case 'owned':
      return { id: owner, deduplicated: true };
    case 'dup':
      return new EchoMQError('duplicate', `queue "${queue}" has a job ${id} already; it was left as it is`, fields);
    case 'full':
      return new EchoMQError(
        'queue_full',
        `queue "${queue}" holds as many waiting jobs as its max_length allows: the job was not added`,
        { queue },
      );
    case 'state':
      return new EchoMQError(
        'collision',
        `the minted id ${id} exists already: another process mints under node id ${node}`,
        fields,
      );
    default:
      return new EchoMQError('protocol', `job/add answered "${status}"`, fields);
  }
}

// Why a job was not removed, if it was not.
export function removeError(status: string, queue: string, id: string): EchoMQError | undefined {
  if (status === 'ok') return undefined;
  if (status === 'gone') return noSuchJob(queue, id);
  const why = status === 'lock' ? 'runs' : 'moved each time that it was looked for; try again';
  return new EchoMQError('wrong_state', `job ${id} of queue "${queue}" ${why}`, { queue, value: id });
}

// Why a line of the log, or data, was not written, if it was not.
export function writeError(status: string, queue: string, id: string): EchoMQError | undefined {
  if (status === 'ok') return undefined;
  if (status === 'gone') return noSuchJob(queue, id);
  return new EchoMQError('stale', `another run owns job ${id}`, { queue, value: id });
}

// What an end was told: `status`, or `unknown` where it was said again and the first time may have ended the
// run: then the job has gone on, or is gone, and no other run is to blame.
export const endStatus = (status: string, again: boolean): string =>
  again && (status === 'gone' || status === 'stale') ? 'unknown' : status;

export type Counted = 'completed' | 'failed' | 'retried' | 'released' | 'refused' | 'unknown';

const COUNTED = { complete: 'completed', fail: 'failed', retry: 'retried', release: 'released' } as const;

// As what an end counts; undefined: a job that was given back had no result to be refused, and was mostly given
// back before, by a call whose answer was lost.
export function countedAs(kind: SettlementKind, status: string): Counted | undefined {
  if (status === 'unknown') return 'unknown';
  if (status !== 'stale' && status !== 'gone') return COUNTED[kind];
  return kind === 'release' ? undefined : 'refused';
}

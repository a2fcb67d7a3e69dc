// SPDX-License-Identifier: MIT
// A job as it is stored, and how its add and its end are told: the forms of docs/protocol.md, section 3, and
// of the headers of job/add and job/finish. Their last parts may hold any bytes, so all of them are buffers.
// Pure.
import { EncodedJob, JobOptions, StoredJobOptions, decodeOpts } from './options.js';

export interface Head {
  addedMs: number;
  name: string;
  opts: string;
}

export interface Runs {
  claimsEnded: number;
  attemptsMade: number;
  crashes: number;
  startedMs: number;
  endedMs: number;
  worker: string;
}

export interface LoadedJob {
  id: string;
  name: string;
  data: Buffer;
  options: StoredJobOptions;
  addedMs: number;
  attemptsMade: number;
  attemptsStarted: number;
  crashes: number;
  parentQueue: string;
  parent: string; // empty: none
}

export type JobState = 'waiting' | 'prioritized' | 'delayed' | 'active' | 'completed' | 'failed' | 'waiting-children';

// One job at one moment. Times are milliseconds since 1970 by the server's clock, 0: not yet.
export interface JobInfo {
  queue: string;
  id: string;
  name: string;
  data: Buffer;
  state: JobState;
  options: JobOptions; // as given to add; id and name stand above
  attemptsMade: number; // attempts that ended in a failure or success
  attemptsStarted: number; // claims that ended, crashes included
  crashes: number; // times that its lease ran out
  addedMs: number;
  dueMs: number; // delayed: when it becomes ready
  processedMs: number; // start of the last attempt that ended
  finishedMs: number;
  worker: string; // name of the worker of that attempt
  progress: Buffer; // what the handler reported last
  result?: Buffer; // completed: what the handler returned; absent when that was nothing
  failedReason: string; // of the last failed attempt
  parentQueue: string;
  parent: string;
}

// What a worker needs to run a job, in the order in which it asks for it (HMGET).
export const LOAD_FIELDS = ['head', 'data', 'run'];

// The numbers that a text begins with, each with a colon behind it, and the rest.
function numbersThenRest(bytes: Buffer, count: number, mayMiss: number): [number[], Buffer] | undefined {
  const numbers: number[] = [];
  let at = 0;
  for (let i = 0; i < count; ++i) {
    const colon = bytes.indexOf(0x3a, at);
    if (colon < 0) return undefined;
    const digits = bytes.toString('latin1', at, colon);
    if (!(i === mayMiss ? /^\d*$/ : /^\d+$/).test(digits)) return undefined;
    numbers.push(Number(digits));
    at = colon + 1;
  }
  return [numbers, bytes.subarray(at)];
}

// `<added ms>:<bytes of name>:<name><opts>`; undefined: it has another form.
export function readHead(bytes: Buffer): Head | undefined {
  const parts = numbersThenRest(bytes, 2, -1);
  if (!parts) return undefined;
  const [[addedMs, nameBytes], rest] = parts;
  if (nameBytes > rest.length) return undefined;
  return { addedMs, name: rest.toString('utf8', 0, nameBytes), opts: rest.toString('utf8', nameBytes) };
}

// `<ats>:<atm>:<stc>:<started>:<ended>:<token>:<worker>`
export function readRuns(bytes: Buffer): Runs | undefined {
  const parts = numbersThenRest(bytes, 6, 5);
  if (!parts) return undefined;
  const [[claimsEnded, attemptsMade, crashes, startedMs, endedMs], rest] = parts;
  return { claimsEnded, attemptsMade, crashes, startedMs, endedMs, worker: rest.toString() };
}

const NO_HEAD: Head = { addedMs: 0, name: '', opts: '' };
const NO_RUNS: Runs = { claimsEnded: 0, attemptsMade: 0, crashes: 0, startedMs: 0, endedMs: 0, worker: '' };

// `<queue>:<id>`; what has no colon names no queue.
export function readReference(text: string): [queue: string, id: string] {
  const colon = text.indexOf(':');
  return colon < 0 ? ['', text] : [text.slice(0, colon), text.slice(colon + 1)];
}

function parentOf(reference: string): { parentQueue: string; parent: string } {
  const [parentQueue, parent] = readReference(reference);
  return parentQueue === '' ? { parentQueue: '', parent: '' } : { parentQueue, parent };
}

// undefined: there is no such hash. What is odd reads as absent: a job must not be lost over it.
export function readLoaded(id: string, fields: Array<Buffer | null>): LoadedJob | undefined {
  if (fields.length !== LOAD_FIELDS.length || !fields[0]) return undefined;
  const head = readHead(fields[0]) ?? NO_HEAD;
  const runs = (fields[2] && readRuns(fields[2])) || NO_RUNS;
  const stored = decodeOpts(head.opts);
  return {
    id,
    name: head.name,
    data: fields[1] ?? Buffer.alloc(0),
    options: stored.options,
    addedMs: head.addedMs,
    attemptsMade: runs.attemptsMade,
    attemptsStarted: runs.claimsEnded,
    crashes: runs.crashes,
    ...parentOf(stored.parent),
  };
}

// From the answer of job/read: state, score, then fields and values. undefined: no such job.
export function readInfo(queue: string, id: string, answer: Buffer[]): JobInfo | undefined {
  if (answer.length < 2) return undefined;
  const fields = new Map<string, Buffer>();
  for (let i = 2; i + 1 < answer.length; i += 2) fields.set(answer[i].toString(), answer[i + 1]);
  const bytes = (field: string): Buffer => fields.get(field) ?? Buffer.alloc(0);
  const head = readHead(bytes('head')) ?? NO_HEAD;
  const runs = readRuns(bytes('run')) ?? NO_RUNS;
  const stored = decodeOpts(head.opts);
  const state = answer[0].toString() as JobState;
  // Single fields of the hash refine what its add said.
  const { options } = stored;
  const number = (field: string): number => Number(bytes(field).toString()) || 0;
  if (number('priority') > 0) options.priority = number('priority');
  if (bytes('lifo').toString() === '1') options.lifo = true;
  if (number('delay') > 0) options.delay = number('delay');
  const result = fields.get('returnvalue');
  return {
    queue,
    id,
    name: head.name,
    data: bytes('data'),
    state,
    options,
    attemptsMade: runs.attemptsMade,
    attemptsStarted: runs.claimsEnded,
    crashes: runs.crashes,
    addedMs: head.addedMs,
    dueMs: state === 'delayed' ? Number(answer[1].toString()) : 0,
    processedMs: runs.startedMs,
    finishedMs: runs.endedMs,
    worker: runs.worker,
    progress: bytes('progress'),
    ...(result === undefined ? {} : { result }),
    failedReason: bytes('failedReason').toString(),
    ...parentOf(stored.parent),
  };
}

// What the jobs of one job/add have besides id and data, told once for each run of jobs that are alike in it.
export function shapesOf(jobs: readonly EncodedJob[]): string {
  let out = '';
  for (let first = 0; first < jobs.length;) {
    const one = jobs[first];
    const alike = (other: EncodedJob): boolean =>
      (one.id === '') === (other.id === '') &&
      one.delay === other.delay &&
      one.priority === other.priority &&
      one.lifo === other.lifo &&
      one.name === other.name &&
      one.opts === other.opts;
    let end = first + 1;
    while (end < jobs.length && alike(jobs[end])) ++end;
    const numbers = [
      end - first,
      one.id === '' ? 0 : 1,
      one.delay,
      one.priority,
      one.lifo ? 1 : 0,
      Buffer.byteLength(one.name),
      Buffer.byteLength(one.opts),
    ];
    out += numbers.map((number) => `${number}:`).join('') + one.name + one.opts;
    first = end;
  }
  return out;
}

export interface End {
  lease: number; // as it is known to who ends it
  claimsEnded: number;
  attemptsMade: number;
  crashes: number;
  startedMs: number;
  value: Buffer; // the result, or the reason
}

// How the jobs of one job/finish ended, told once for each run of jobs that are alike in it.
export function endsOf(ends: readonly End[]): Buffer {
  const parts: Buffer[] = [];
  for (let first = 0; first < ends.length;) {
    const one = ends[first];
    const alike = (other: End): boolean =>
      one.lease === other.lease &&
      one.claimsEnded === other.claimsEnded &&
      one.attemptsMade === other.attemptsMade &&
      one.crashes === other.crashes &&
      one.startedMs === other.startedMs &&
      one.value.equals(other.value);
    let end = first + 1;
    while (end < ends.length && alike(ends[end])) ++end;
    const numbers = [end - first, one.lease, one.claimsEnded, one.attemptsMade, one.crashes, one.startedMs];
    parts.push(Buffer.from([...numbers, one.value.length].map((number) => `${number}:`).join('')), one.value);
    first = end;
  }
  return Buffer.concat(parts);
}

// SPDX-License-Identifier: MIT
// The options of a job, as include/echomq/options.h has them. Every value is checked when a job is added,
// before a byte is sent. Times are milliseconds, but for the age of what is kept, which is in seconds.
import { EchoMQError, badOption } from './error.js';
import { checkJobId } from './keyspace.js';

export const MAX_DATA_BYTES = 64 * 2 ** 20;
export const MAX_RESULT_BYTES = 256 * 2 ** 10; // a larger result fails the job
export const MAX_REASON_BYTES = 8 * 2 ** 10; // a longer failure reason is cut
const MAX_PRIORITY = 2 ** 21 - 1;
const MAX_ATTEMPTS = 1_000_000;
export const MAX_DELAY_MS = 24 * 365 * 10 * 3_600_000; // ten years
const MAX_KEEP_AGE_S = 24 * 365 * 100 * 3600; // a hundred years
const MAX_KEEP_BYTES = 2 ** 40;
const MAX_NAME_BYTES = 255;

// How long to wait before the next attempt. n counts the failed attempts, from 1.
//   fixed:       delay
//   exponential: delay * 2^(n-1), at most ten years
// jitter j in [0,1] draws from [d*(1-j), d].
export interface Backoff {
  type: 'fixed' | 'exponential';
  delay: number; // ms
  jitter?: number; // 0..1
}

// How many finished jobs a queue keeps, for how long, and how much of them: the oldest go first.
export interface Keep {
  count?: number; // 1,000 by default; 0: nothing is kept; negative: no limit
  age?: number; // seconds, a day by default; 0: no limit
  bytes?: number; // of data and results together; 0, the default: no limit
}

// At most one job of a queue at a time is wanted for some purpose: an add under an id that a job owns is
// not stored, and answers that job. See struct Deduplication of the C++ header for the modes.
export interface Deduplication {
  id: string; // UTF-8, 1 to 255 bytes
  ttl?: number; // ms that it is owned; absent: until its owner is over
  extend?: boolean; // each further add begins ttl anew
  replace?: boolean; // a further add replaces an owner that is delayed
  keepLast?: boolean; // an add while the owner runs is kept for its end; excludes ttl, extend, replace
}

export interface JobOptions {
  attempts?: number; // how often it may be tried, 1 by default
  backoff?: Backoff; // between attempts; absent: none
  delay?: number; // ms, not before now + delay
  priority?: number; // 0, the default, goes first (before every priority), then 1, 2 ... 2,097,151
  lifo?: boolean; // to the front of the line; excludes priority
  id?: string; // a custom id: a second add while it exists fails with `duplicate`
  name?: string; // what kind of job, "job" by default; at most 255 bytes
  keepCompleted?: Keep; // instead of the worker's rule
  keepFailed?: Keep;
  expiresIn?: number; // ms after the add; no attempt begins later
  traceparent?: string; // W3C Trace Context, version 00
  tracestate?: string;
  deduplication?: Deduplication;
}

// A job as its add tells of it.
export interface EncodedJob {
  id: string; // custom; empty: one is minted
  name: string;
  data: Buffer;
  opts: string;
  delay: number;
  priority: number;
  lifo: boolean;
  deduplication?: Deduplication;
}

export const bytesOf = (job: EncodedJob): number =>
  job.data.length + Buffer.byteLength(job.name) + Buffer.byteLength(job.opts) + job.id.length + 128;

const KNOWN = new Set([
  'attempts',
  'backoff',
  'delay',
  'priority',
  'lifo',
  'id',
  'name',
  'keepCompleted',
  'keepFailed',
  'expiresIn',
  'traceparent',
  'tracestate',
  'deduplication',
]);

export function checkWhole(option: string, value: unknown, least: number, most: number, expected: string): void {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least || value > most)
    throw badOption(option, String(value), expected);
}

// A string that UTF-8 cannot hold has a surrogate without its other half.
function checkText(option: string, value: unknown): string {
  if (typeof value !== 'string') throw badOption(option, String(value), 'a string');
  if (Buffer.from(value).toString() !== value)
    throw new EchoMQError('encoding', `${option} holds half of a surrogate pair, which is no character`, { option });
  return value;
}

function checkFlag(option: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'boolean') throw badOption(option, String(value), 'true or false');
}

export function checkKeep(option: string, keep: Keep): Required<Keep> {
  if (typeof keep !== 'object' || keep === null) throw badOption(option, String(keep), '{count, age, bytes}');
  const { count = 1000, age = 86_400, bytes = 0 } = keep;
  checkWhole(`${option}.count`, count, -Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 'a whole number');
  checkWhole(`${option}.age`, age, 0, MAX_KEEP_AGE_S, 'seconds, 0 (no limit) to a hundred years');
  checkWhole(`${option}.bytes`, bytes, 0, MAX_KEEP_BYTES, '0 (no limit) to 2^40');
  return { count, age, bytes };
}

function checkDeduplicationId(id: unknown): string {
  const text = checkText('deduplication.id', id);
  const bytes = Buffer.byteLength(text);
  if (bytes < 1 || bytes > 255) throw badOption('deduplication.id', `${bytes} bytes long`, '1 to 255 bytes of UTF-8');
  return text;
}

function checkDeduplication(rule: Deduplication): void {
  checkDeduplicationId(rule.id);
  for (const flag of ['extend', 'replace', 'keepLast'] as const) checkFlag(`deduplication.${flag}`, rule[flag]);
  if (rule.ttl !== undefined)
    checkWhole('deduplication.ttl', rule.ttl, 1, MAX_DELAY_MS, 'milliseconds, 1 to ten years');
  if (rule.extend && rule.ttl === undefined)
    throw badOption('deduplication.extend', 'true without a ttl', 'a ttl that begins anew');
  if (rule.keepLast && rule.replace) throw badOption('deduplication.keepLast', 'true with replace', 'one of the two');
  if (rule.keepLast && rule.ttl !== undefined)
    throw badOption('deduplication.keepLast', `true with a ttl of ${rule.ttl}`, 'no ttl: until the owner is over');
}

function checkBackoff(backoff: Backoff): void {
  if (backoff.type !== 'fixed' && backoff.type !== 'exponential')
    throw badOption('backoff.type', String(backoff.type), 'fixed or exponential');
  checkWhole('backoff.delay', backoff.delay, 0, MAX_DELAY_MS, 'milliseconds, 0 to ten years');
  const jitter = backoff.jitter ?? 0;
  if (typeof jitter !== 'number' || !(jitter >= 0 && jitter <= 1))
    throw badOption('backoff.jitter', String(jitter), 'a share from 0 to 1');
}

function checkTrace(options: JobOptions): void {
  const { traceparent, tracestate } = options;
  if (traceparent) {
    const parts = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(checkText('traceparent', traceparent));
    if (!parts || /^0+$/.test(parts[1]) || /^0+$/.test(parts[2]))
      throw badOption('traceparent', traceparent, '00-<32 hex>-<16 hex>-<2 hex> in lower case, no id all zeros');
  }
  if (!tracestate) return;
  if (!traceparent) throw badOption('tracestate', tracestate, 'none where traceparent is not given');
  if (tracestate.length > 512 || !/^[ -~]*$/.test(tracestate))
    throw badOption('tracestate', `${tracestate.length} characters long`, 'at most 512 printable ASCII characters');
}

function checkOptions(options: JobOptions): void {
  for (const option of Object.keys(options))
    if (!KNOWN.has(option)) throw badOption(option, 'unknown', [...KNOWN].join(', '));
  if (options.attempts !== undefined) checkWhole('attempts', options.attempts, 1, MAX_ATTEMPTS, `1 to ${MAX_ATTEMPTS}`);
  if (options.delay !== undefined) checkWhole('delay', options.delay, 0, MAX_DELAY_MS, 'milliseconds, 0 to ten years');
  if (options.expiresIn !== undefined) {
    checkWhole('expiresIn', options.expiresIn, 1, MAX_DELAY_MS, 'milliseconds, 1 to ten years');
    const delay = options.delay ?? 0;
    if (options.expiresIn <= delay)
      throw badOption('expiresIn', `${options.expiresIn}`, `more than delay, which is ${delay}: it would never run`);
  }
  if (options.priority !== undefined) checkWhole('priority', options.priority, 0, MAX_PRIORITY, `0 to ${MAX_PRIORITY}`);
  checkFlag('lifo', options.lifo);
  if (options.lifo && options.priority)
    throw badOption('lifo', `true with priority ${options.priority}`, 'either lifo or a priority');
  if (options.name !== undefined) {
    const bytes = Buffer.byteLength(checkText('name', options.name));
    if (bytes > MAX_NAME_BYTES) throw badOption('name', `${bytes} bytes long`, 'at most 255 bytes');
  }
  if (options.backoff) checkBackoff(options.backoff);
  if (options.keepCompleted) checkKeep('keepCompleted', options.keepCompleted);
  if (options.keepFailed) checkKeep('keepFailed', options.keepFailed);
  checkTrace(options);
  if (options.deduplication) checkDeduplication(options.deduplication);
  if (options.id !== undefined) checkJobId(options.id);
}

// What of the options is not the default, as it is stored; nothing when all is.
function encodeOpts(options: JobOptions): string {
  const keep = (rule: Keep) => {
    const { count, age, bytes } = checkKeep('keep', rule);
    return bytes === 0 ? { count, age } : { count, age, bytes };
  };
  const out: Record<string, unknown> = {};
  if (options.attempts !== undefined && options.attempts !== 1) out.attempts = options.attempts;
  if (options.backoff) {
    const { type, delay, jitter } = options.backoff;
    out.backoff = jitter ? { type, delay, jitter } : { type, delay };
  }
  if (options.keepCompleted) out.removeOnComplete = keep(options.keepCompleted);
  if (options.keepFailed) out.removeOnFail = keep(options.keepFailed);
  if (options.expiresIn !== undefined) out.expire = options.expiresIn;
  if (options.traceparent) out.traceparent = options.traceparent;
  if (options.tracestate) out.tracestate = options.tracestate;
  if (options.deduplication) {
    const { id, ttl, extend, replace, keepLast } = options.deduplication;
    out.de = {
      id,
      ...(ttl === undefined ? {} : { ttl }),
      ...(extend ? { extend: true } : {}),
      ...(replace ? { replace: true } : {}),
      ...(keepLast ? { keepLastIfActive: true } : {}),
    };
  }
  return Object.keys(out).length === 0 ? '' : JSON.stringify(out);
}

// A value as a job's bytes: bytes as they are, nothing as nothing, all else as JSON.
export function encodeData(value: unknown): Buffer {
  if (value === undefined) return Buffer.alloc(0);
  if (Buffer.isBuffer(value)) return value;
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer) return Buffer.from(value);
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (problem) {
    throw new EchoMQError('invalid_argument', `data is no JSON: ${(problem as Error).message}`, { option: 'data' });
  }
  if (text === undefined) throw badOption('data', typeof value, 'bytes, or a value that JSON can hold');
  return Buffer.from(text);
}

export function encodeJob(data: unknown, options: JobOptions, dataLimit: number): EncodedJob {
  checkOptions(options);
  const bytes = encodeData(data);
  if (bytes.length > dataLimit)
    throw new EchoMQError(
      'too_large',
      `the job's data is ${bytes.length} bytes long; the limit is ${dataLimit} (dataLimit, at most 64 MiB)`,
      { value: `${bytes.length}`, expected: `${dataLimit}` },
    );
  return {
    id: options.id ?? '',
    name: options.name ?? 'job',
    data: bytes,
    opts: encodeOpts(options),
    delay: options.delay ?? 0,
    priority: options.priority ?? 0,
    lifo: options.lifo ?? false,
    deduplication: options.deduplication,
  };
}

export interface StoredJobOptions extends JobOptions {
  keepCompleted?: Required<Keep>;
  keepFailed?: Required<Keep>;
}

// What is stored reads within the bounds of what is given, whoever wrote it; what is odd reads as absent.
export interface StoredOptions {
  options: StoredJobOptions;
  parent: string; // "<queue>:<id>"; empty: none
}

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const clamp = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most);

function whole(json: Json, key: string, otherwise: number): number {
  const value = json[key];
  return typeof value === 'number' ? Math.trunc(value) : otherwise;
}

// v1 also writes true (keep nothing), false (keep all) and a bare count.
function decodeKeep(value: unknown): Required<Keep> | undefined {
  if (typeof value === 'boolean') return { count: value ? 0 : -1, age: 0, bytes: 0 };
  if (typeof value === 'number') return { count: Math.trunc(value), age: 0, bytes: 0 };
  if (!isObject(value)) return undefined;
  return {
    count: whole(value, 'count', -1),
    age: clamp(whole(value, 'age', 0), 0, MAX_KEEP_AGE_S),
    bytes: clamp(whole(value, 'bytes', 0), 0, MAX_KEEP_BYTES),
  };
}

function decodeBackoff(value: unknown): Backoff | undefined {
  const delayed = (ms: number): number => clamp(ms, 0, MAX_DELAY_MS);
  if (typeof value === 'number') return { type: 'fixed', delay: delayed(Math.trunc(value)) };
  if (!isObject(value)) return undefined;
  const type = value.type === 'exponential' ? 'exponential' : 'fixed';
  const jitter = typeof value.jitter === 'number' ? clamp(value.jitter, 0, 1) : 0;
  return { type, delay: delayed(whole(value, 'delay', 0)), ...(jitter ? { jitter } : {}) };
}

function decodeDeduplication(value: unknown): Deduplication | undefined {
  if (!isObject(value) || typeof value.id !== 'string') return undefined;
  const ttl = whole(value, 'ttl', 0);
  return {
    id: value.id,
    ...(ttl > 0 ? { ttl: Math.min(ttl, MAX_DELAY_MS) } : {}),
    ...(value.extend === true ? { extend: true } : {}),
    ...(value.replace === true ? { replace: true } : {}),
    ...(value.keepLastIfActive === true ? { keepLast: true } : {}),
  };
}

export function decodeOpts(text: string): StoredOptions {
  const stored: StoredOptions = { options: {}, parent: '' };
  if (text === '' || text === '{}') return stored;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return stored;
  }
  if (!isObject(json)) return stored;
  const { options } = stored;
  const attempts = clamp(whole(json, 'attempts', 1), 1, MAX_ATTEMPTS);
  if (attempts !== 1) options.attempts = attempts;
  const backoff = decodeBackoff(json.backoff);
  if (backoff) options.backoff = backoff;
  const expire = whole(json, 'expire', 0);
  if (expire > 0) options.expiresIn = Math.min(expire, MAX_DELAY_MS);
  const rule = decodeDeduplication(json.de);
  if (rule) options.deduplication = rule;
  const completed = decodeKeep(json.removeOnComplete);
  if (completed) options.keepCompleted = completed;
  const failed = decodeKeep(json.removeOnFail);
  if (failed) options.keepFailed = failed;
  if (typeof json.traceparent === 'string') options.traceparent = json.traceparent;
  if (typeof json.tracestate === 'string') options.tracestate = json.tracestate;
  if (typeof json.parent === 'string') stored.parent = json.parent;
  return stored;
}

// `draw` is uniform in [0,1).
export function backoffDelay(backoff: Backoff | undefined, failures: number, draw: number): number {
  if (!backoff) return 0;
  let delay = backoff.delay;
  if (backoff.type === 'exponential' && failures > 1) delay *= 2 ** Math.min(failures - 1, 62);
  return Math.round(Math.min(delay, MAX_DELAY_MS) * (1 - (backoff.jitter ?? 0) * draw));
}

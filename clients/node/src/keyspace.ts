// SPDX-License-Identifier: MIT
// The keyspace: every key of docs/protocol.md, section 3, in both directions. A key has exactly one
// meaning, and parseKey and buildKey are each other's inverse. The builders do not check: give them a name
// that queueName answered and ids that a check has passed. Errors are invalid_name with the field "value".
import { invalidName, quoted } from './error.js';
import { isBrandedId, isMintedId, unbrandId } from './id.js';

const STRUCTURES = [
  'meta',
  'id',
  'repeat',
  'wait',
  'ghosts',
  'prioritized',
  'crashed',
  'active',
  'delayed',
  'completed',
  'failed',
  'waiting-children',
  'marker',
  'events',
  'limiter',
  'producers',
  'outbox',
  'trash',
  'subkeys',
  'schedules',
  'de',
  'de:due',
  'de:next',
] as const;
const NAMED = ['schedule', 'metrics', 'group', 'sizes', 'flow'] as const;
const SUBS = ['logs', 'dependencies', 'processed', 'failed', 'unsuccessful', 'checkpoint'] as const;
const RESERVES = ['version', 'nodes', 'queues', 'bundle'] as const;
// Keys of the v1 wire that a v1 client may overwrite before it meets the fence: no job is called so.
const V1_WORDS = ['paused', 'pc', 'stalled', 'stalled-check', 'delay', 'priority'];
const MAX_QUEUE_BYTES = 128;
const MAX_NAME_BYTES = 255;

export type Structure = (typeof STRUCTURES)[number];
export type Sub = (typeof SUBS)[number];
export type Reserve = (typeof RESERVES)[number];

export type ParsedKey =
  | { kind: 'structure'; queue: string; structure: Structure }
  | { kind: 'named'; queue: string; named: string; name: string }
  | { kind: 'job'; queue: string; id: string }
  | { kind: 'sub'; queue: string; id: string; sub: Sub }
  | { kind: 'reserve'; reserve: Reserve }
  | { kind: 'migration'; queue: string };

const has = (words: readonly string[], word: string): boolean => words.includes(word);

// What is wrong with a text as a name of up to `limit` bytes, as the end of a sentence.
function nameFault(text: string, limit: number): string | undefined {
  const bytes = Buffer.byteLength(text);
  const bad = /[^A-Za-z0-9._-]/.exec(text);
  if (text !== '' && bytes <= limit && !bad) return undefined;
  let found = 'is empty';
  if (bytes > limit) found = `has ${bytes} bytes`;
  else if (bad) found = `holds ${quoted(bad[0])} at byte ${Buffer.byteLength(text.slice(0, bad.index)) + 1}`;
  return `${found}; expected 1 to ${limit} of A-Z a-z 0-9 . _ -`;
}

function queueFault(queue: string): string | undefined {
  if (queue === 'emq') return 'is taken: its keys would be those of the deployment. Choose another name';
  return nameFault(queue, MAX_QUEUE_BYTES);
}

function customIdFault(id: string): string | undefined {
  const fault = nameFault(id, MAX_NAME_BYTES);
  if (fault) return fault;
  if (/^[0-9]+$/.test(id)) return 'is digits only, which is the form of minted ids. Put a letter before it';
  if (isBrandedId(id)) return 'has the form of a branded id (BAT and 11 digits of base 62). Put a letter before it';
  if (has(STRUCTURES, id) || has(NAMED, id)) return 'is a key of the queue itself. Choose another id';
  if (has(V1_WORDS, id)) return 'is a key of v1 queues, which a v1 client may overwrite. Choose another id';
  return undefined;
}

function anyIdFault(id: string): string | undefined {
  if (isMintedId(id)) return undefined;
  if (/^[0-9]+$/.test(id)) return 'is digits only and no minted id: those are below 2^63 and have no leading zero';
  return customIdFault(id);
}

function text(what: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw invalidName(what, String(value), `is a ${typeof value}, and must be a string`);
}

// The bare name of a queue: "orders" and "{orders}" both give "orders".
export function queueName(given: string): string {
  const name = text('queue name', given);
  const bare = name.length >= 2 && name.startsWith('{') && name.endsWith('}') ? name.slice(1, -1) : name;
  const fault = queueFault(bare);
  if (fault) throw invalidName('queue name', name, fault);
  return bare;
}

// May a caller give a new job this id?
export function checkJobId(id: string): void {
  const fault = customIdFault(text('job id', id));
  if (fault) throw invalidName('job id', id, fault);
}

// Can there be a job of this id, minted or custom? A branded id is refused with its decimal form.
export function checkAnyJobId(id: string): void {
  if (isBrandedId(text('job id', id))) {
    const decimal = unbrandId(id);
    throw invalidName('job id', id, `is in its branded form; give the decimal form, ${decimal}`, { decimal });
  }
  const fault = anyIdFault(id);
  if (fault) throw invalidName('job id', id, fault);
}

export const key = (queue: string, structure: Structure): string => `emq:{${queue}}:${structure}`;
export const namedKey = (queue: string, named: string, name: string): string => `emq:{${queue}}:${named}:${name}`;
export const jobKey = (queue: string, id: string, sub?: Sub): string =>
  sub === undefined ? `emq:{${queue}}:${id}` : `emq:{${queue}}:${id}:${sub}`;
export const reserveKey = (reserve: Reserve): string => `{emq}:${reserve}`;
export const migrationKey = (queue: string): string => `{emq}:migration:${queue}`;
// A key of the v1 wire: for looking at it, never for writing.
export const v1Key = (prefix: string, queue: string, suffix: string): string => `${prefix}:${queue}:${suffix}`;

function parseSuffix(queue: string, suffix: string): ParsedKey | string {
  if (has(STRUCTURES, suffix)) return { kind: 'structure', queue, structure: suffix as Structure };
  const colon = suffix.indexOf(':');
  const head = colon < 0 ? suffix : suffix.slice(0, colon);
  const tail = colon < 0 ? '' : suffix.slice(colon + 1);
  if (has(NAMED, head)) {
    const fault = nameFault(tail, MAX_NAME_BYTES);
    return fault ? `names a ${head} that ${fault}` : { kind: 'named', queue, named: head, name: tail };
  }
  const fault = anyIdFault(head);
  if (fault) return `has the job id ${quoted(head)}, which ${fault}`;
  if (colon < 0) return { kind: 'job', queue, id: head };
  if (has(SUBS, tail)) return { kind: 'sub', queue, id: head, sub: tail as Sub };
  return (
    `has ${quoted(tail)} after the job id; expected logs, dependencies, processed, failed, unsuccessful or ` +
    'checkpoint'
  );
}

function parse(given: string): ParsedKey | string {
  const queueFaultIn = (queue: string): string | undefined => {
    const fault = queueFault(queue);
    return fault && `has the queue name ${quoted(queue)}, which ${fault}`;
  };
  if (given.startsWith('emq:{')) {
    const rest = given.slice('emq:{'.length);
    const brace = rest.indexOf('}');
    if (brace < 0 || rest[brace + 1] !== ':') return 'has no "}:" after the queue\'s name';
    const queue = rest.slice(0, brace);
    return queueFaultIn(queue) ?? parseSuffix(queue, rest.slice(brace + 2));
  }
  if (given.startsWith('{emq}:')) {
    const unit = given.slice('{emq}:'.length);
    if (has(RESERVES, unit)) return { kind: 'reserve', reserve: unit as Reserve };
    if (!unit.startsWith('migration:'))
      return `names ${quoted(unit)}; expected version, nodes, queues, bundle or migration:<queue>`;
    const queue = unit.slice('migration:'.length);
    return queueFaultIn(queue) ?? { kind: 'migration', queue };
  }
  return 'is of another family; expected emq:{queue}:... or {emq}:...';
}

// The one meaning of a key.
export function parseKey(given: string): ParsedKey {
  const parsed = parse(given);
  if (typeof parsed === 'string') throw invalidName('key', given, parsed);
  return parsed;
}

export function buildKey(parsed: ParsedKey): string {
  switch (parsed.kind) {
    case 'structure':
      return key(parsed.queue, parsed.structure);
    case 'named':
      return namedKey(parsed.queue, parsed.named, parsed.name);
    case 'job':
      return jobKey(parsed.queue, parsed.id);
    case 'sub':
      return jobKey(parsed.queue, parsed.id, parsed.sub);
    case 'reserve':
      return reserveKey(parsed.reserve);
    case 'migration':
      return migrationKey(parsed.queue);
  }
}

// The cluster slot of a key, 0..16383: CRC16 of what stands between the first "{" and the next "}" when
// that is not empty, else of the whole key.
export function slot(of: string): number {
  const bytes = Buffer.from(of);
  const open = bytes.indexOf('{');
  const close = open < 0 ? -1 : bytes.indexOf('}', open + 1);
  const part = close > open + 1 ? bytes.subarray(open + 1, close) : bytes;
  let crc = 0;
  for (const byte of part) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; ++bit) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    crc &= 0xffff;
  }
  return crc % 16384;
}

// The fixed keys of one queue by the names that the headers of the scripts have for them.
export function queueKeys(queue: string) {
  const of = (structure: Structure): string => key(queue, structure);
  return {
    meta: of('meta'),
    id: of('id'),
    repeat: of('repeat'),
    wait: of('wait'),
    ghosts: of('ghosts'),
    prioritized: of('prioritized'),
    crashed: of('crashed'),
    active: of('active'),
    delayed: of('delayed'),
    completed: of('completed'),
    failed: of('failed'),
    waiting_children: of('waiting-children'),
    marker: of('marker'),
    events: of('events'),
    limiter: of('limiter'),
    producers: of('producers'),
    outbox: of('outbox'),
    trash: of('trash'),
    subkeys: of('subkeys'),
    schedules: of('schedules'),
    de: of('de'),
    de_due: of('de:due'),
    de_next: of('de:next'),
    metrics_completed: namedKey(queue, 'metrics', 'completed'),
    metrics_failed: namedKey(queue, 'metrics', 'failed'),
    sizes_completed: namedKey(queue, 'sizes', 'completed'),
    sizes_failed: namedKey(queue, 'sizes', 'failed'),
  };
}
export type QueueKeys = ReturnType<typeof queueKeys>;

// The sub-keys of one job, for the scripts that may delete or must clear them.
export function subKeys(queue: string, id: string) {
  return {
    logs: jobKey(queue, id, 'logs'),
    dependencies: jobKey(queue, id, 'dependencies'),
    processed: jobKey(queue, id, 'processed'),
    failed_children: jobKey(queue, id, 'failed'),
    unsuccessful: jobKey(queue, id, 'unsuccessful'),
    checkpoint: jobKey(queue, id, 'checkpoint'),
  };
}

// SPDX-License-Identifier: MIT
// What stands in the stream of events, and where a listener is in it (docs/protocol.md, section 5.10). One entry
// is written by one call of a script and tells of many jobs; listeners get one event for each. Pure.
import { EchoMQError, quoted } from './error.js';
import { Reply, buffersOf, itemsOf, textOf } from './reply.js';

const EVENT_TYPES = [
  'added', // a job was added, whatever its state
  'delayed', // it waits for a time: it was added so, or it waits for its next attempt
  'promoted', // its time has come, it is ready
  'progress', // its handler reported progress
  'retried', // an attempt ended and it gets another one
  'released', // a worker gave it back unworked
  'recovered', // it was taken back from a dead worker
  'completed', // it ended with a result
  'failed', // it ended without one
  'prioritized', // it was given another priority
  'removed', // somebody removed it
  'paused', // of the queue: it gives no jobs from now on
  'resumed', // of the queue: it gives jobs again
  'deduplicated', // an add under a deduplication id that it owns was answered with it
  'replaced', // it was removed for a newer one of its deduplication id
  'waiting-children', // it waits for its children
  'ready', // it does not wait for its children any more
  'orphaned', // it ended, and the parent that it would have told is gone
  'custom', // somebody's own event
  'gap', // entries of the stream were missed
  'other', // told by a newer version, see QueueEvent.name
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export interface QueueEvent {
  id: string; // where to go on after it: {after: id}. Of a gap: after what was missed
  type: EventType;
  name: string; // the type; custom: its own name; other: as it came
  job: string; // the job's id; empty where the event is not about one job
  payload: Buffer; // of a custom event
  atMs: number; // by the server's clock; a gap has no time
  missed: number; // gap: how many entries are gone; 0: nobody knows, the numbering began anew
}

export type EventPlace = 'now' | 'beginning' | { after: string };

// The numbers of entries are dense, so whoever reads sees what is missing. Events that a position leaves out are
// the first `skip` of the entry behind it.
export interface Position {
  entry: number;
  skip: number;
}

const positionId = ({ entry, skip }: Position): string => (skip === 0 ? `${entry}-0` : `${entry + 1}-${skip}`);

export function parsePosition(id: string): Position | undefined {
  const parts = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(id);
  if (!parts) return undefined;
  const [entry, skip] = [Number(parts[1]), Number(parts[2] ?? 0)];
  if (skip === 0) return { entry, skip };
  return entry === 0 ? undefined : { entry: entry - 1, skip };
}

export interface StreamEntry {
  id: string;
  number: number;
  events: QueueEvent[];
}

const isType = (word: string): word is EventType => (EVENT_TYPES as readonly string[]).includes(word);
const event = (type: EventType, more: Partial<QueueEvent>): QueueEvent => ({
  id: '',
  type,
  name: type,
  job: '',
  payload: Buffer.alloc(0),
  atMs: 0,
  missed: 0,
  ...more,
});

// `at <ms>`, then in turn the name of an event and its jobs; or `custom <name> payload <bytes>`.
function expand(fields: readonly Buffer[]): QueueEvent[] {
  const events: QueueEvent[] = [];
  let atMs = 0;
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const word = fields[i].toString();
    const value = fields[i + 1];
    const last = events[events.length - 1];
    if (word === 'at') atMs = Number(value.toString());
    else if (word === 'payload' && last?.type === 'custom') last.payload = value;
    else if (word === 'custom') events.push(event('custom', { name: value.toString() }));
    else
      for (const job of value.toString().split(' '))
        events.push(event(isType(word) ? word : 'other', { name: word, job }));
  }
  for (const one of events) one.atMs = atMs;
  return events;
}

// The i-th of several events of an entry has the id `<n>-<i>`, the last one `<n>-0`.
export function readEntry(id: string, fields: readonly Buffer[]): StreamEntry {
  const number = Number(id.split('-')[0]);
  const events = expand(fields);
  events.forEach((one, i) => {
    const last = i + 1 === events.length;
    one.id = positionId(last ? { entry: number, skip: 0 } : { entry: number - 1, skip: i + 1 });
  });
  return { id, number, events };
}

// The answer of XREAD for one stream.
export function readStream(reply: Reply): StreamEntry[] {
  const [stream] = itemsOf(reply);
  return itemsOf(itemsOf(stream)[1]).map((entry) => {
    const [id, fields] = itemsOf(entry);
    return readEntry(textOf(id), buffersOf(fields));
  });
}

export class EventCursor {
  readFrom = '0-0';
  private position: Position = { entry: 0, skip: 0 };
  private fromNow: boolean;
  private fromOldest: boolean;

  // Errors: invalid_argument.
  constructor(place: EventPlace) {
    this.fromNow = place === 'now';
    this.fromOldest = place === 'beginning';
    if (typeof place === 'string') {
      if (this.fromNow || this.fromOldest) return;
      throw new EchoMQError('invalid_argument', `from is ${quoted(place)}; expected now, beginning or {after: id}`);
    }
    const position = parsePosition(String(place.after));
    if (!position)
      throw new EchoMQError(
        'invalid_argument',
        `from is ${quoted(String(place.after))}; expected the id of an event, as "12-0"`,
        { option: 'from', value: String(place.after), expected: 'the id of an event' },
      );
    this.moveTo(position);
  }

  // The queue's counter is at `last`. One that is behind what was read shows that the queue was made again or the
  // server lost its last data: then it begins anew and tells that.
  counted(last: number): QueueEvent[] {
    if (this.fromNow) {
      this.fromNow = false;
      this.moveTo({ entry: last, skip: 0 });
      return [];
    }
    if (this.position.entry + (this.position.skip > 0 ? 1 : 0) <= last) return [];
    this.moveTo({ entry: 0, skip: 0 });
    this.fromOldest = true;
    return [this.gap(0)];
  }

  // There may be entries that were not read when the counter stood so.
  behind(last: number): boolean {
    return this.fromOldest || this.position.entry < last;
  }

  get id(): string {
    return positionId(this.position);
  }

  read(entries: readonly StreamEntry[]): QueueEvent[] {
    const events: QueueEvent[] = [];
    for (const entry of entries) {
      this.readFrom = entry.id;
      const first = this.fromOldest;
      this.fromOldest = false;
      if (entry.number <= this.position.entry) continue; // not of this wire: its numbers are dense
      const missed = entry.number - this.position.entry - 1;
      if (missed > 0) this.position = { entry: entry.number - 1, skip: 0 };
      if (missed > 0 && !first) events.push(this.gap(missed));
      const { skip } = this.position;
      this.position = { entry: entry.number, skip: 0 };
      events.push(...entry.events.slice(skip));
    }
    return events;
  }

  // There was nothing to read although the counter is at `last`: the newest entries were removed.
  readNothing(last: number): QueueEvent[] {
    const fromOldest = this.fromOldest;
    this.fromOldest = false;
    if (this.position.entry >= last) return [];
    const missed = last - this.position.entry;
    this.moveTo({ entry: last, skip: 0 });
    return fromOldest ? [] : [this.gap(missed)];
  }

  private moveTo(position: Position): void {
    this.position = position;
    this.readFrom = `${position.entry}-0`;
  }

  private gap(missed: number): QueueEvent {
    return event('gap', { id: positionId({ entry: this.position.entry, skip: 0 }), missed });
  }
}

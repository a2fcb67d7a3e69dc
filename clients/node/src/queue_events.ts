// SPDX-License-Identifier: MIT
// QueueEvents: what happens to the jobs of a queue, told to whoever listens, each event once and in order, also
// across lost connections.
//
//   const events = new QueueEvents(mq, 'mail');
//   events.on('completed', (event) => console.log(event.job));
//   await events.ready(); // from here on nothing is missed
//
// Each event is emitted under its type, and all of them under 'event'. What is told is that a job has taken a
// step, not what it holds: read the job for that. A listener that is slower than the stream is long misses its
// oldest entries, and is told so by 'gap'.
import { EventEmitter } from 'node:events';

import type { Client } from './client.js';
import { Connection, ErrorReply } from './connection.js';
import { EchoMQError } from './error.js';
import { EventCursor, EventPlace, QueueEvent, readStream } from './event_stream.js';
import { revision, wireVersion } from './generated/scripts.js';
import { checkWhole } from './options.js';
import { QueueCore, pauseFor } from './queue_core.js';
import { fenceRefusal, isNotReady, refusal } from './refusal.js';
import { itemsOf, numberOf, textOf } from './reply.js';

const BATCH_ENTRIES = 64; // of one read
const DEAD_LANE_MS = 2_000; // past its time-out a silent lane is dead
const LOOK_PAUSE_MS = 100; // after a look that the network refused

export interface QueueEventsOptions {
  from?: EventPlace; // 'now' by default
  poll?: number; // ms that one question waits on the server, 100 to 60,000; 5,000 by default
}

export class QueueEvents extends EventEmitter {
  // When it has stopped: by close(), or by an error, which it is rejected with: fence, wrong_type, denied,
  // closed. A lost connection does not stop it.
  readonly stopped: Promise<void>;
  private readonly queue: QueueCore;
  private readonly cursor: EventCursor;
  private readonly poll: number;
  private readonly lane: Connection;
  private readonly placed: Promise<void>;
  private isPlaced!: () => void;
  private closed = false;
  private reached = '';

  // Listens from now on. A queue that is not there yet is waited for; looking never makes one.
  // Errors: invalid_name, invalid_argument.
  constructor(client: Client, queue: string, options: QueueEventsOptions = {}) {
    super();
    this.queue = client.core.queue(queue);
    this.poll = options.poll ?? 5_000;
    checkWhole('poll', this.poll, 100, 60_000, 'milliseconds, 100 to 60,000');
    this.cursor = new EventCursor(options.from ?? 'now');
    this.lane = client.core.makeLane(':events');
    this.placed = new Promise((resolve) => (this.isPlaced = resolve));
    const close = (): void => void this.close();
    client.core.once('close', close);
    this.lane.start();
    this.stopped = this.listen().finally(() => {
      client.core.off('close', close);
      this.lane.close();
    });
    this.stopped.catch(() => undefined); // nobody has to wait for it
  }

  // When the listener has its place in the stream.
  ready(): Promise<void> {
    return Promise.race([this.placed, this.stopped]);
  }

  // The id of the last event that was told, for {after: id}; before the first, once it is ready, the place where
  // it began.
  get lastId(): string {
    return this.reached;
  }

  close(): Promise<void> {
    this.closed = true;
    this.lane.close();
    return this.stopped.catch(() => undefined);
  }

  private async listen(): Promise<void> {
    let look = true;
    let last = 0;
    while (!this.closed) {
      try {
        if (look) {
          last = await this.look();
          look = false;
          const begun = this.cursor.counted(last);
          if (this.reached === '') this.reached = this.cursor.id;
          this.isPlaced();
          this.tell(begun);
        }
        look = await this.read(last);
      } catch (error) {
        if (this.closed) return;
        if (error instanceof ErrorReply) {
          // "UNBLOCKED": somebody ended the wait by hand.
          if (!isNotReady(error.message) && !error.message.startsWith('UNBLOCKED'))
            throw refusal(error.message, this.queue.name, this.queue.keys.events);
        } else if (!(error instanceof EchoMQError) || error.code === 'fence' || error.code === 'closed') {
          throw error;
        } else if (error.code === 'timeout') {
          this.lane.drop();
        }
        look = true;
        await pauseFor(LOOK_PAUSE_MS);
      }
    }
  }

  // Reads `version`, `min_revision` and the counter; 0: there is no queue yet.
  private async look(): Promise<number> {
    const { meta } = this.queue.keys;
    const fields = ['version', 'min_revision', 'event_seq'];
    const reply = itemsOf(await this.lane.send('hmget', [meta, ...fields], this.queue.client.options.commandTimeout));
    if (reply[0] === null) return 0;
    const version = textOf(reply[0]);
    if (version !== wireVersion) throw fenceRefusal(this.queue.name, version, wireVersion, meta);
    if (numberOf(reply[1]) > revision)
      throw fenceRefusal(this.queue.name, `revision ${numberOf(reply[1])}`, `revision ${revision}`, meta);
    return numberOf(reply[2]);
  }

  // Answers whether to look again: a wait that brought nothing may hide that the newest entries were removed.
  private async read(last: number): Promise<boolean> {
    const wait = !this.cursor.behind(last);
    const block = wait ? ['BLOCK', String(this.poll)] : [];
    const words = ['COUNT', String(BATCH_ENTRIES), ...block, 'STREAMS', this.queue.keys.events, this.cursor.readFrom];
    const timeout = wait ? this.poll + DEAD_LANE_MS : this.queue.client.options.commandTimeout;
    const entries = readStream(await this.lane.send('xread', words, timeout));
    if (entries.length > 0) this.tell(this.cursor.read(entries));
    else if (!wait) this.tell(this.cursor.readNothing(last));
    return entries.length === 0 && wait;
  }

  private tell(events: readonly QueueEvent[]): void {
    for (const event of events) {
      if (this.closed) return;
      this.emit(event.type, event);
      this.emit('event', event);
      this.reached = event.id;
    }
  }
}

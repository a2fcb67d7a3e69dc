// SPDX-License-Identifier: MIT
// Marker: waits on the marker of a queue, on a connection of its own, and puts marks back.
import { Connection, ErrorReply } from './connection.js';
import { EchoMQError } from './error.js';
import type { QueueCore } from './queue_core.js';
import { refusal } from './refusal.js';
import { itemsOf, numberOf, textOf } from './reply.js';

const LATE_MS = 300; // past its time-out a silent lane may be dead
const SLACK_MS = 2_000; // and by then it is

export type Mark = { kind: 'none' } | { kind: 'wake' } | { kind: 'timer' | 'gate' | 'tick'; dueMs: number };

export interface MarkerHooks {
  popped(mark: Mark): void;
  refused(error: EchoMQError): void;
  // The answer is late: the wake may have gone to a lane that is dead.
  late(): void;
  // A mark that was put back is through.
  putEnded(): void;
}

export class Marker {
  private lane?: Connection;
  private watch?: NodeJS.Timeout;
  private closed = false;
  private puts = 0;

  constructor(
    private readonly queue: QueueCore,
    private readonly pollMs: number,
    private readonly hooks: MarkerHooks,
  ) {}

  open(): void {
    this.lane = this.queue.client.makeLane(':block');
    this.lane.start();
  }

  close(): void {
    this.closed = true;
    clearInterval(this.watch);
    this.lane?.close();
  }

  get idle(): boolean {
    return this.puts === 0;
  }

  async wait(): Promise<void> {
    const { marker } = this.queue.keys;
    this.watch = setTimeout(() => {
      this.watch = setInterval(() => this.hooks.late(), LATE_MS);
      this.hooks.late();
    }, this.pollMs + LATE_MS);
    let mark: Mark = { kind: 'none' };
    let refused: EchoMQError | undefined;
    try {
      mark = markOf(
        await (this.lane as Connection).send('bzpopmin', [marker, String(this.pollMs / 1_000)], this.pollMs + SLACK_MS),
      );
    } catch (error) {
      if (error instanceof ErrorReply) refused = refusal(error.message, this.queue.name, marker);
      else if (error instanceof EchoMQError && error.code === 'timeout') this.lane?.drop();
    }
    clearInterval(this.watch);
    if (this.closed) return;
    if (refused) this.hooks.refused(refused);
    else this.hooks.popped(mark);
  }

  putWake(): void {
    this.put('zadd', [this.queue.keys.marker, '0', '0']);
  }
  // Never later than what stands there already.
  putTimer(dueMs: number): void {
    this.put('zadd', [this.queue.keys.marker, 'LT', String(dueMs), '1']);
  }
  putTick(dueMs: number): void {
    this.put('zadd', [this.queue.keys.marker, 'LT', String(dueMs), '3']);
  }
  putGate(): void {
    this.put('hdel', [this.queue.keys.limiter, 'armed']);
    this.putWake();
  }

  private put(command: string, args: string[]): void {
    ++this.puts;
    void this.queue.client
      .command(command, args)
      .catch(() => undefined)
      .then(() => {
        --this.puts;
        this.hooks.putEnded();
      });
  }
}

function markOf(reply: Parameters<typeof itemsOf>[0]): Mark {
  const items = itemsOf(reply);
  if (items.length !== 3) return { kind: 'none' };
  const dueMs = numberOf(items[2]);
  switch (textOf(items[1])) {
    case '0':
      return { kind: 'wake' };
    case '2':
      return { kind: 'gate', dueMs };
    case '3':
      return { kind: 'tick', dueMs };
    default:
      return { kind: 'timer', dueMs };
  }
}

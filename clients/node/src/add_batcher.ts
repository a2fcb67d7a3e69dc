// SPDX-License-Identifier: MIT
// Group commit of adds (docs/protocol.md, 5.9 and 9): what goes into the next flush, and in which lane. Send at
// once when idle; while a flush is on its way, collect; never wait on a timer. There are two lanes, each with
// one flush in flight; the second opens only for a full batch. Pure.
import { EncodedJob } from './options.js';

export const MAX_BATCH_JOBS = 256;
export const MAX_BATCH_BYTES = 256 * 2 ** 10;
const LANES = 2;

export interface AddedJob {
  id: string;
  deduplicated: boolean; // no job was added: `id` owns its deduplication id
}

export interface PendingAdd {
  job: EncodedJob;
  bytes: number; // of the job, as bytesOf counts them
  resolve: (added: AddedJob) => void;
  reject: (why: unknown) => void;
}

export interface Flush {
  lane: number;
  // How the script knows it, set when it is first sent: repeated, it says the same again, even if this
  // process holds another node id by then. 0: it was not sent.
  producer: string;
  grant: number;
  number: number;
  adds: PendingAdd[];
  minted: string[]; // the ids of those without one, kept when the flush is repeated
}

export const newFlush = (lane: number, adds: PendingAdd[], minted: string[] = []): Flush => ({
  lane,
  producer: '',
  grant: 0,
  number: 0,
  adds,
  minted,
});

export class AddBatcher {
  private backlog: PendingAdd[] = [];
  private from = 0; // of the backlog: what stands before it was taken
  private bytes = 0;
  private readonly busy = new Array<boolean>(LANES).fill(false);

  push(add: PendingAdd): void {
    this.bytes += add.bytes;
    this.backlog.push(add);
  }

  get length(): number {
    return this.backlog.length - this.from;
  }

  // The next flush to send now, if any. Its lane is taken until done(lane).
  next(): Flush | undefined {
    if (this.length === 0) return undefined;
    const full = this.length >= MAX_BATCH_JOBS || this.bytes >= MAX_BATCH_BYTES;
    if (this.busy.some(Boolean) && !full) return undefined;
    const lane = this.busy.indexOf(false);
    return lane < 0 ? undefined : this.take(lane);
  }

  done(lane: number): void {
    this.busy[lane] = false;
  }

  // All that has not been sent, to be refused together.
  drain(): PendingAdd[] {
    const all = this.backlog.slice(this.from);
    this.backlog = [];
    this.from = 0;
    this.bytes = 0;
    return all;
  }

  // At most 256 jobs and 256 KiB; a larger job goes alone.
  private take(lane: number): Flush {
    const adds: PendingAdd[] = [];
    let size = 0;
    while (this.length > 0 && adds.length < MAX_BATCH_JOBS) {
      const next = this.backlog[this.from];
      if (adds.length > 0 && size + next.bytes > MAX_BATCH_BYTES) break;
      size += next.bytes;
      this.bytes -= next.bytes;
      adds.push(next);
      ++this.from;
    }
    if (this.from > 4 * MAX_BATCH_JOBS && this.from * 2 > this.backlog.length) {
      this.backlog = this.backlog.slice(this.from);
      this.from = 0;
    }
    this.busy[lane] = true;
    return newFlush(lane, adds);
  }
}

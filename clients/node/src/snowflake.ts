// SPDX-License-Identifier: MIT
// Minting job ids: Snowflakes that no two processes of a deployment can mint alike, whatever their clocks
// do (docs/protocol.md, section 5.8). A grant names a node id, a floor and an end; ids are minted for
// milliseconds `floor < ts <= until` only and rise strictly, borrowing from the milliseconds to come where
// the clock falls back or 4,096 ids a millisecond are not enough. Pure: the time is an argument.
import { ID_EPOCH_MS } from './id.js';

const MAX_SEQ = 4095;
const LAST_ID_MS = ID_EPOCH_MS + 2 ** 41 - 1;

export class Mint {
  private node = 0;
  private untilMs = ID_EPOCH_MS;
  private atMs = ID_EPOCH_MS; // neither the floor nor any id so far is after it
  private seq = MAX_SEQ; // the last one used in atMs; MAX_SEQ: none is left there

  // To extend a grant that was held without a gap, give the floor of its first one again.
  setGrant(node: number, floorMs: number, untilMs: number): void {
    // A millisecond is never shared by two nodes of this process: the order of ids would then depend on the
    // nodes' numbers.
    if (node !== this.node) this.seq = MAX_SEQ;
    this.node = node;
    this.untilMs = Math.min(untilMs, LAST_ID_MS);
    if (this.atMs <= floorMs) {
      this.atMs = floorMs;
      this.seq = MAX_SEQ;
    }
  }

  // The next id; undefined: there is no grant, or it ends before now.
  next(nowMs: number): string | undefined {
    let ms = this.atMs;
    let seq = this.seq + 1;
    if (nowMs > ms) {
      ms = nowMs;
      seq = 0;
    } else if (seq > MAX_SEQ) {
      ms += 1;
      seq = 0;
    }
    if (ms > this.untilMs) return undefined;
    this.atMs = ms;
    this.seq = seq;
    return ((BigInt(ms - ID_EPOCH_MS) << 22n) | (BigInt(this.node & 1023) << 12n) | BigInt(seq)).toString();
  }

  // The floor for the next holder of the node.
  lastMs(): number {
    return this.atMs;
  }
}

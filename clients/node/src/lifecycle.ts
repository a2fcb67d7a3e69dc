// SPDX-License-Identifier: MIT
// Lifecycle: when a worker claims, blocks, keeps the time, and ends (docs/protocol.md, section 5.6). Pure:
// events in, actions out. After each event call next() until it answers undefined, and do what it says.
//
// The marker holds "0" while something can be claimed, "1" with the time of the next delayed job, "2" with the
// time at which a closed gate opens, and "3" with that of the next tick of a scheduler. An idle worker blocks on
// it. Whoever pops "0" claims; whoever pops "1" or "2" waits for that time itself. This client fires no
// schedulers: a "3" that it pops is put back for others, see became('tick').

// A time that a worker keeps for all, ms, and whether what is to be done then is on its way. What is kept
// meanwhile counts afterwards.
class KeptTime {
  private ms = 0;
  private laterMs = 0;
  private acting = false;

  keep(ms: number): void {
    if (this.acting) this.laterMs = this.laterMs === 0 ? ms : Math.min(this.laterMs, ms);
    else this.ms = this.ms === 0 ? ms : Math.min(this.ms, ms);
  }
  comes(nowMs: number): boolean {
    if (this.acting || this.ms === 0 || nowMs < this.ms) return false;
    this.acting = true;
    return true;
  }
  // `againMs`: when it is to be acted on again; 0: not.
  done(againMs: number): void {
    this.acting = false;
    this.ms = againMs;
    const later = this.laterMs;
    this.laterMs = 0;
    if (later !== 0) this.keep(later);
  }
  get dueMs(): number {
    return this.ms;
  }
  get alarmMs(): number {
    return this.acting ? 0 : this.ms;
  }
  // Gives it up; 0: there is none.
  giveUp(): number {
    if (this.laterMs !== 0 && (this.ms === 0 || this.laterMs < this.ms)) this.ms = this.laterMs;
    this.laterMs = 0;
    const ms = this.ms;
    this.ms = 0;
    return ms;
  }
}

export type Action =
  | { kind: 'claim'; count: number } // ask for up to `count` jobs
  | { kind: 'block' } // wait on the marker
  | { kind: 'promote' } // a timer is due: make delayed jobs ready
  | { kind: 'putWake' } // "0" was popped, and there is no free slot for it
  | { kind: 'putTimer'; dueMs: number } // this worker ends
  | { kind: 'putGate' } // this worker ends, and others must keep the time at which the gate opens
  | { kind: 'putTick'; dueMs: number } // for a worker that fires schedulers
  | { kind: 'drained' }; // nothing waits, is delayed or active: a worker that stops when empty is done

export interface Claimed {
  asked: number;
  taken: number;
  ready: number; // left for others
  dueMs: number; // of the next delayed job, where known
  anyoneActive: boolean;
  open: boolean;
  opensMs: number; // when a closed gate opens by itself; 0: at no time
}

export class Lifecycle {
  private taken = 0; // slots
  private connectedNow = false;
  private hot = false; // a claim may find something
  private again = false; // said while a claim was on its way
  private claimingNow = false;
  private blockingNow = false;
  private wakeOwed = false; // "0" was popped and no claim has answered for it
  private paused = false;
  private stopping = false;
  private drainedNow = false;
  private readonly timer = new KeptTime();
  private gates: number[] = []; // when gates open that this worker keeps the time of
  private openedMs = 0; // the last of them that came; 0: a claim has answered for it
  private tick?: { dueMs: number; backMs: number };
  private tickBackMs = -Infinity; // when the last one went back

  constructor(
    private readonly concurrency: number,
    private readonly stopWhenEmpty: boolean,
    private readonly pollMs: number,
  ) {}

  next(nowMs: number): Action | undefined {
    if (this.stopping) {
      // What a block that is still on its way may have popped is unknown to a worker that ends.
      this.wakeOwed ||= this.blockingNow;
      this.blockingNow = false;
      return this.handOver();
    }
    if (this.paused) return this.handOver();
    if (this.drainedNow) return { kind: 'drained' };
    this.openGate(nowMs);
    if (this.tick && nowMs >= this.tick.backMs) return this.putTick(nowMs);
    if (this.timer.comes(nowMs)) return { kind: 'promote' };
    if (this.wakeOwed && this.free === 0) {
      this.wakeOwed = false;
      return { kind: 'putWake' };
    }
    if (!this.connectedNow || this.claimingNow || this.free === 0) return undefined;
    if (this.hot) {
      this.claimingNow = true;
      this.wakeOwed = false;
      return { kind: 'claim', count: this.free };
    }
    if (this.blockingNow) return undefined;
    this.blockingNow = true;
    return { kind: 'block' };
  }

  // --- events

  connected(): void {
    this.connectedNow = true;
    this.hot = true;
  }

  claimed(told: Claimed, nowMs: number): void {
    const { asked, taken, ready, dueMs, anyoneActive, open, opensMs } = told;
    this.claimingNow = false;
    this.taken += taken;
    this.hot = this.again || (open && (asked === taken || ready > 0));
    this.again = false;
    if (dueMs !== 0 && dueMs <= nowMs) this.timer.keep(dueMs);
    // The claim came a moment too early by its own clock, and the time is marked once only.
    if (this.openedMs === opensMs && opensMs !== 0) this.gates.push(opensMs);
    this.openedMs = 0;
    if (this.stopWhenEmpty && taken === 0 && ready === 0 && dueMs === 0 && !anyoneActive && this.taken === 0)
      this.drainedNow = true;
  }
  claimFailed(): void {
    this.claimingNow = false;
    this.hot = false;
    this.again = false; // who was told of the failure looks again
  }

  woken(): void {
    this.blockingNow = false;
    this.wakeOwed = true;
    this.lookAgain();
  }
  // Popped "1", "2" or "3". A tick is kept until its time and then put back for a worker that fires it. When it
  // comes back at once there is none that waits: then it is kept for a poll, so that two do not play at ball.
  became(keeper: 'timer' | 'gate' | 'tick', dueMs: number, nowMs: number): void {
    this.blockingNow = false;
    if (keeper === 'timer') this.timer.keep(dueMs);
    else if (keeper === 'gate') this.gates.push(dueMs);
    else this.tick = { dueMs, backMs: nowMs < this.tickBackMs + 1_000 ? nowMs + this.pollMs : Math.max(dueMs, nowMs) };
  }
  // Nothing popped: look all the same, in case a wake was lost.
  blockTimedOut(): void {
    this.blockingNow = false;
    this.hot = true;
  }
  blockFailed(): void {
    this.blockingNow = false;
  }
  // Something may have changed. A claim that is on its way may have been too early to see it.
  lookAgain(): void {
    this.hot = true;
    this.again = this.claimingNow;
    this.drainedNow = false;
  }

  promoted(moreDue: boolean): void {
    this.timer.done(moreDue ? this.timer.dueMs : 0);
  }
  promotionFailed(againMs: number): void {
    this.timer.done(againMs);
  }
  slotFreed(): void {
    --this.taken;
  }
  pause(pause: boolean): void {
    this.paused = pause;
    if (!pause) this.lookAgain();
  }
  stop(): void {
    this.stopping = true;
  }

  // When next() should be asked again without an event; 0: no timer.
  get timerMs(): number {
    const times = [this.timer.alarmMs, ...this.gates, this.tick?.backMs ?? 0].filter((time) => time !== 0);
    return times.length === 0 ? 0 : Math.min(...times);
  }
  private get free(): number {
    return Math.max(this.concurrency - this.taken, 0);
  }

  private putTick(nowMs: number): Action {
    const dueMs = this.tick?.dueMs ?? nowMs;
    this.tick = undefined;
    this.tickBackMs = nowMs;
    return { kind: 'putTick', dueMs };
  }

  // What this worker took from the marker and others need goes back, once each.
  private handOver(): Action | undefined {
    if (this.wakeOwed) {
      this.wakeOwed = false;
      return { kind: 'putWake' };
    }
    const dueMs = this.timer.giveUp();
    if (dueMs !== 0) return { kind: 'putTimer', dueMs };
    if (this.gates.length > 0) {
      this.gates = [];
      return { kind: 'putGate' };
    }
    return this.tick && this.putTick(0);
  }

  // As if "0" had been popped: where no slot is free the wake goes to another worker.
  private openGate(nowMs: number): void {
    const earliest = Math.min(...this.gates);
    if (this.gates.length === 0 || nowMs < earliest) return;
    this.openedMs = earliest;
    this.gates = this.gates.filter((gate) => gate !== earliest);
    this.wakeOwed = true;
    this.lookAgain();
  }
}

// SPDX-License-Identifier: MIT
// What time is it on the server? (docs/protocol.md, section 5.7.) A sample is one TIME command, sent at a,
// answered at b by our monotonic clock, with the server's time s in between: the difference of the clocks
// lies in [s - b, s - a]. The estimate is the middle of the shortest round trip among the last 8 samples of
// the last minute. A sample that contradicts older ones shows that the server's clock was set: those are
// dropped. Pure: both clocks are arguments, in microseconds.

const WINDOW = 8;
const MAX_AGE_US = 60_000_000;

interface Sample {
  receivedUs: number;
  lowUs: number; // the server's time less ours lies in [lowUs, highUs]
  highUs: number;
}

export class ServerClock {
  private samples: Sample[] = []; // oldest first
  private offsetUs = 0;

  sample(sentMonoUs: number, receivedMonoUs: number, serverUnixUs: number): void {
    if (receivedMonoUs < sentMonoUs) return;
    const fresh = {
      receivedUs: receivedMonoUs,
      lowUs: serverUnixUs - receivedMonoUs,
      highUs: serverUnixUs - sentMonoUs,
    };
    this.samples = this.samples.filter(
      (old) => old.highUs >= fresh.lowUs && old.lowUs <= fresh.highUs && receivedMonoUs - old.receivedUs <= MAX_AGE_US,
    );
    if (this.samples.length === WINDOW) this.samples.shift();
    this.samples.push(fresh);
    // Of equal round trips the newest: it has drifted least.
    let best = this.samples[0];
    for (const one of this.samples) if (one.highUs - one.lowUs <= best.highUs - best.lowUs) best = one;
    this.offsetUs = best.lowUs + Math.floor((best.highUs - best.lowUs) / 2);
  }

  // Milliseconds since 1970 on the server, at this moment of our monotonic clock.
  nowMs(monoUs: number): number {
    return Math.floor((monoUs + this.offsetUs) / 1000);
  }

  reset(): void {
    this.samples = [];
    this.offsetUs = 0;
  }
}

// SPDX-License-Identifier: MIT
// Oldest: the ids that retention takes next from a finished set, as answers of job/finish named them. A caller
// that declares their keys with its ends lets the script delete them at once, and spares it the way through
// trash. Where other processes end jobs of the queue too, what was seen is mostly gone by then: then it asks for
// no more for a while. Pure.

const LEFT_OUT = 64; // calls

export class Oldest {
  private known: string[] = [];
  private given = 0; // declared by calls that are on their way
  private callsLeftOut = 0;

  // A call may declare `most` of them.
  constructor(private readonly most: number) {}

  // Those that a call that ends so many jobs may declare, in order. Each is given out once.
  take(jobs: number): string[] {
    const ids = this.known.splice(0, Math.min(jobs, this.most));
    this.given += ids.length;
    return ids;
  }
  // How many a call should ask for, after take(): many at a time and not by each call.
  peek(): number {
    if (this.callsLeftOut > 0) {
      --this.callsLeftOut;
      return 0;
    }
    return this.known.length < this.most ? this.given + 2 * this.most : 0;
  }
  // A call was answered: of the ids that it declared so many were deleted; these are the oldest now, if it asked.
  seen(declared: number, deleted: number, ids: readonly string[]): void {
    this.given -= Math.min(this.given, declared);
    if (deleted < declared) this.forget(LEFT_OUT);
    else if (ids.length > this.given + this.known.length) this.known = ids.slice(this.given);
  }
  // A call was not answered: nobody knows what it deleted.
  lost(): void {
    this.forget(0);
  }

  private forget(calls: number): void {
    this.known = [];
    this.given = 0;
    this.callsLeftOut = Math.max(this.callsLeftOut, calls);
  }
}

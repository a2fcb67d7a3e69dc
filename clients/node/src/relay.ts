// SPDX-License-Identifier: MIT
// Relay: tells parents how their children ended, whatever queues those are in, and then lets the outbox of
// the children's queue forget it (docs/protocol.md, section 7). A message that could not be delivered is still
// in its outbox, and a sweep of any worker finds it.
import type { QueueCore } from './queue_core.js';
import { EchoMQError } from './error.js';
import { revision } from './generated/scripts.js';
import { jobKey, queueName, subKeys } from './keyspace.js';
import { readReference } from './record.js';
import { isAbsent } from './refusal.js';
import { buffersOf, itemsOf, statusOf, textOf } from './reply.js';
import { MAX_BATCH_BYTES, MAX_BATCH_JOBS } from './add_batcher.js';
import { ScriptCall } from './script_call.js';

const PARENTS_PER_CALL = 128; // five keys each
// The rule of retention for parents that end because of their children.
const FALLEN_PARENTS = 10_000;
const FALLEN_PARENTS_AGE_MS = 7 * 86_400_000;
const FRESH_MS = 5_000; // whoever wrote it is about to deliver it
// Of a sweep. Messages may be large, and notes of flows are small.
const PAGE = 64;
const PAGE_OF_NOTES = 1024;
const PAGES_PER_SWEEP = 128;

export interface EndMessage {
  field: string; // its name in the outbox
  child: string;
  parentQueue: string;
  parent: string;
  epoch: string;
  kind: string; // c: completed, f: failed, r: gets another run
  stampMs: number;
  policy: string;
  value: Buffer;
}

// `<child> <parent queue>:<parent>` -> `<epoch>:<kind>:<stamp>:<policy>:<value>`; undefined: another entry.
export function readMessage(field: string, text: Buffer): EndMessage | undefined {
  const blank = field.indexOf(' ');
  const form = /^(\d+):([cfr]):(\d+):([a-z]):/.exec(text.toString('latin1', 0, 64));
  if (blank < 0 || !form) return undefined;
  const [parentQueue, parent] = readReference(field.slice(blank + 1));
  if (parentQueue === '') return undefined;
  const [whole, epoch, kind, stamp, policy] = form;
  const value = text.subarray(whole.length);
  return {
    field,
    child: field.slice(0, blank),
    parentQueue,
    parent,
    epoch,
    kind,
    stampMs: Number(stamp),
    policy,
    value,
  };
}

// Fields and messages in turn, as scripts answer those that they wrote, and HSCAN what it finds.
export function readMessages(pairs: readonly Buffer[]): EndMessage[] {
  const messages = [];
  for (let i = 0; i + 1 < pairs.length; i += 2) {
    const message = readMessage(pairs[i].toString(), pairs[i + 1]);
    if (message) messages.push(message);
  }
  return messages;
}

// One message as flow/settle reads it, from the queue of the child.
function messageText(queue: string, message: EndMessage): Buffer {
  const ref = `${queue}:${message.child}`;
  const { epoch, kind, policy, value } = message;
  return Buffer.concat([
    Buffer.from(`${Buffer.byteLength(ref)}:${epoch}:${kind}:${policy}:${value.length}:${ref}`),
    value,
  ]);
}

export class Relay {
  private cursor = '0';
  private sweeping = false;

  // `queue`: of the children.
  constructor(private readonly queue: QueueCore) {}

  // Delivers them, and what parents that end by them tell their own. Does not fail: see above.
  async push(messages: EndMessage[]): Promise<void> {
    const byQueue = new Map<string, EndMessage[]>();
    for (const message of messages) {
      const lane = byQueue.get(message.parentQueue) ?? [];
      lane.push(message);
      byQueue.set(message.parentQueue, lane);
    }
    await Promise.all([...byQueue].map(([name, lane]) => this.deliver(name, lane)));
  }

  // What crashes left, to the end of the outbox or as far as one sweep goes. Plans of flows and notes of how far
  // they were added are no messages: workers that add flows go on with those.
  async sweep(): Promise<void> {
    const { client, keys } = this.queue;
    if (this.sweeping) return;
    this.sweeping = true;
    try {
      let count = PAGE;
      for (let page = 0; page < PAGES_PER_SWEEP; ++page) {
        const words = [keys.outbox, this.cursor, 'COUNT', String(count)];
        const [cursor, pairs] = itemsOf(await client.command('hscan', words));
        this.cursor = textOf(cursor) || '0';
        const messages = readMessages(buffersOf(pairs));
        count = messages.length === 0 ? Math.min(2 * count, PAGE_OF_NOTES) : PAGE;
        await this.push(messages.filter((message) => message.stampMs + FRESH_MS <= client.nowMs()));
        if (this.cursor === '0') return;
      }
    } finally {
      this.sweeping = false;
    }
  }

  private async deliver(name: string, messages: EndMessage[]): Promise<void> {
    let parents: QueueCore;
    try {
      parents = this.queue.client.queue(queueName(name));
    } catch {
      return;
    }
    for (let left = messages; left.length > 0;) {
      const batch = take(left);
      left = left.slice(batch.length);
      await this.settle(parents, batch).catch((error: Error) =>
        this.queue.client.log(
          'warning',
          `the ends of ${batch.length} job(s) of "${this.queue.name}" are not told to their parents in "${name}" ` +
            `yet: ${error.message}`,
        ),
      );
    }
  }

  private async settle(parents: QueueCore, batch: EndMessage[]): Promise<void> {
    const byParent = new Map<string, EndMessage[]>();
    for (const message of batch) byParent.set(message.parent, [...(byParent.get(message.parent) ?? []), message]);
    const call = new ScriptCall('flow/settle', parents.keys, {
      revision,
      now: this.queue.client.nowMs(),
      count: byParent.size,
      keep: FALLEN_PARENTS,
      age: FALLEN_PARENTS_AGE_MS,
    });
    for (const [id, told] of byParent) {
      call.itemKeys({ job: jobKey(parents.name, id), ...subKeys(parents.name, id) });
      const messages = Buffer.concat(told.map((message) => messageText(this.queue.name, message)));
      call.itemArgs({ id, told: told.length, messages });
    }
    const ordered = [...byParent.values()].flat();
    let statuses: string[];
    try {
      const reply = itemsOf(await parents.call(call));
      statuses = ordered.map((_, i) => statusOf(reply[0], i));
      if (itemsOf(reply[1]).length > 0) await new Relay(parents).push(readMessages(buffersOf(reply[1])));
    } catch (error) {
      // A queue that is no more has no parents.
      if (!(error instanceof EchoMQError) || !isAbsent(error)) throw error;
      statuses = ordered.map(() => 'gone');
    }
    const told = ordered.map((message, i) => ({ message, status: statuses[i] }));
    await this.forget(told.filter(({ status }) => status !== 'unknown'));
  }

  private async forget(told: Array<{ message: EndMessage; status: string }>): Promise<void> {
    if (told.length === 0) return;
    const now = this.queue.client.nowMs();
    const call = new ScriptCall('flow/delivered', this.queue.keys, { revision, now, count: told.length });
    for (const { message, status } of told)
      call.itemArgs({
        field: message.field,
        seen: `${message.epoch}:${message.kind}:`,
        orphaned: status === 'gone',
      });
    await this.queue.call(call);
  }
}

// At most 256 messages of 128 parents, and 256 KiB; a larger one goes alone.
function take(messages: readonly EndMessage[]): EndMessage[] {
  const batch: EndMessage[] = [];
  const parents = new Set<string>();
  let bytes = 0;
  for (const message of messages) {
    const size = message.value.length + message.field.length + 64;
    const full = batch.length === MAX_BATCH_JOBS || bytes + size > MAX_BATCH_BYTES;
    if (batch.length > 0 && (full || (parents.size === PARENTS_PER_CALL && !parents.has(message.parent)))) break;
    bytes += size;
    parents.add(message.parent);
    batch.push(message);
  }
  return batch;
}

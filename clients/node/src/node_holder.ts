// SPDX-License-Identifier: MIT
// This process's hold on a node id, which mints job ids and signs leases (docs/protocol.md, section 5.8):
// taken, renewed three times within its lease, given back by a clean end.
import { randomInt } from 'node:crypto';
import { hostname } from 'node:os';

import type { ClientCore } from './client.js';
import { EchoMQError } from './error.js';
import { reserveKey } from './keyspace.js';
import { Lease, deadlineFor } from './lease.js';
import { itemsOf, numberOf, textOf } from './reply.js';
import { revision } from './generated/scripts.js';
import { ScriptCall } from './script_call.js';
import { Mint } from './snowflake.js';

const NODES = 1024;
const OFFERED = 16; // candidates of the first call; one is nearly always free
const OFFERED_MOST = 64;
const FAREWELL_MS = 500;

// In random order, so that processes that start together do not ask for the same one.
function shuffledNodes(): number[] {
  const nodes = Array.from({ length: NODES }, (_, node) => node);
  for (let i = NODES - 1; i > 0; --i) {
    const j = randomInt(i + 1);
    [nodes[i], nodes[j]] = [nodes[j], nodes[i]];
  }
  return nodes;
}

const exhausted = (holders: string): EchoMQError =>
  new EchoMQError(
    'nodes_exhausted',
    'all 1024 node ids are held by live processes; a deployment has room for that many',
    {
      holders,
    },
  );

export class NodeHolder {
  private held = false;
  private nodeId = 0;
  private grantNumber = 0;
  private untilMs = 0;
  private nonce = 0;
  private readonly mint = new Mint();
  private readonly owner = `${hostname()}:${process.pid}:${randomInt(2 ** 32)}`;
  private acquiring?: Promise<void>;

  constructor(private readonly client: ClientCore) {}

  get node(): number {
    return this.nodeId;
  }
  get grant(): number {
    return this.grantNumber;
  }
  heldAt(nowMs: number): boolean {
    return this.held && nowMs < this.untilMs;
  }

  // undefined: the grant allows no further id; see mintRenewed.
  mintId(): string | undefined {
    return this.mint.next(this.client.nowMs());
  }

  // The next id of a grant that goes on. Errors: nodes_exhausted.
  async mintRenewed(): Promise<string> {
    await this.withMore();
    const id = this.mintId();
    if (id === undefined)
      throw new EchoMQError('nodes_exhausted', 'the node id allows no further id, not even renewed');
    return id;
  }

  // The lease of the next claim call: a fresh nonce each time, so that two runs of a job differ.
  nextLease(nowMs: number, leaseMs: number): Lease {
    this.nonce = (this.nonce + 1) % 2048;
    return { deadlineS: deadlineFor(nowMs, leaseMs), node: this.nodeId, nonce: this.nonce };
  }

  // A node id is held after it.
  with(): Promise<void> {
    return this.heldAt(this.client.nowMs()) ? Promise.resolve() : this.withMore();
  }

  // The same, and the grant goes on for a whole lease from now.
  withMore(): Promise<void> {
    this.acquiring ??= this.acquire().finally(() => (this.acquiring = undefined));
    return this.acquiring;
  }

  async renew(): Promise<void> {
    if (!this.held || (await this.offer([this.nodeId]))) return;
    this.client.log('error', `another process took over node id ${this.nodeId} after a silence`);
    this.held = false;
  }

  private async acquire(): Promise<void> {
    if (this.held && (await this.offer([this.nodeId]))) return;
    this.held = false;
    if (await this.offer(shuffledNodes().slice(0, OFFERED))) return;
    await this.offerFree();
  }

  // The first guesses were all taken: look at who holds what, and offer only what looks free.
  private async offerFree(): Promise<void> {
    const entries = await this.client.command('hgetall', [reserveKey('nodes')]);
    const nowMs = this.client.nowMs();
    const taken = new Set<number>();
    const holders: string[] = [];
    for (const [node, entry] of Object.entries(entries as unknown as Record<string, Buffer>)) {
      const [until, grant, owner] = entry.toString().split(' ');
      if (grant === undefined || owner === '-' || Number(until) < nowMs) continue;
      taken.add(Number(node));
      if (holders.length < 20) holders.push(owner);
    }
    const free = shuffledNodes().filter((node) => !taken.has(node));
    if (free.length === 0 || !(await this.offer(free.slice(0, OFFERED_MOST)))) throw exhausted(holders.join(' '));
  }

  private call(candidates: number[], nowMs: number, untilMs: number, keep: boolean) {
    const call = new ScriptCall(
      'node/lease',
      { version: reserveKey('version'), nodes: reserveKey('nodes') },
      { revision, now: nowMs, until: untilMs, owner: this.owner, keep, count: candidates.length },
    );
    for (const node of candidates) call.itemArgs({ node });
    return call;
  }

  private async offer(candidates: number[]): Promise<boolean> {
    const nowMs = this.client.nowMs();
    // After the ids that were minted already, too: they may be ahead of a clock that was set back.
    const untilMs = Math.max(nowMs, this.mint.lastMs()) + this.client.options.nodeLease;
    const call = this.call(candidates, nowMs, untilMs, true);
    const reply = itemsOf(await this.client.call(call, '{emq}', reserveKey('version')));
    if (reply.length < 3) return false;
    const node = Number(textOf(reply[0]));
    const grant = numberOf(reply[1]);
    const renewed = this.held && node === this.nodeId && grant === this.grantNumber;
    this.mint.setGrant(node, renewed ? this.mint.lastMs() : numberOf(reply[2]), untilMs);
    this.nodeId = node;
    this.grantNumber = grant;
    this.untilMs = untilMs;
    this.held = true;
    return true;
  }

  async giveBack(): Promise<void> {
    if (!this.held) return;
    this.held = false;
    const call = this.call([this.nodeId], this.client.nowMs(), this.mint.lastMs(), false);
    await this.client.call(call, '{emq}', reserveKey('version'), FAREWELL_MS).catch(() => undefined);
  }
}

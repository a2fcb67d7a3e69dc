// SPDX-License-Identifier: MIT
// Client: one process's connection to a deployment, shared by its queues and workers: the main connection,
// the estimate of the server's clock, and the node id that mints job ids and signs leases.
//
//   const mq = await connect('redis://127.0.0.1:6379');
//   ...
//   await mq.close();
import { EventEmitter } from 'node:events';

import type { RedisOptions } from 'ioredis';

import { addressOf } from './address.js';
import { Connection, ErrorReply } from './connection.js';
import { EchoMQError, badOption } from './error.js';
import { monotonicMs, monotonicUs } from './monotonic.js';
import { NodeHolder } from './node_holder.js';
import { MAX_DATA_BYTES, checkWhole } from './options.js';
import { QueueCore } from './queue_core.js';
import { isNotReady, refusal } from './refusal.js';
import { Reply, itemsOf, numberOf } from './reply.js';
import { ScriptCall, ScriptName } from './script_call.js';
import { ServerClock } from './server_clock.js';
import { queueName, reserveKey } from './keyspace.js';

export type LogLevel = 'debug' | 'info' | 'warning' | 'error';

export interface ClientOptions {
  connectTimeout?: number; // ms that connect() tries, 2,000 by default
  commandTimeout?: number; // ms after which a command gives up with `timeout`, 5,000 by default
  dataLimit?: number; // bytes of a job's data, 1 MiB by default, 64 MiB at most
  allowEviction?: boolean; // accept a maxmemory-policy other than noeviction
  v1Prefixes?: string[]; // v1 queues are looked for under these; ['emq', 'bull'] by default
  bufferLimit?: number; // bytes of adds that wait for their answer, 64 MiB by default; then backpressure
  nodeLease?: number; // ms that the node id is held without a sign of life, 30,000 by default
  name?: string; // shown by CLIENT LIST
  log?: (level: LogLevel, text: string) => void;
}

const CLOCK_EVERY_MS = 5_000;

function withDefaults(given: ClientOptions): Required<ClientOptions> {
  const options = {
    connectTimeout: 2_000,
    commandTimeout: 5_000,
    dataLimit: 2 ** 20,
    allowEviction: false,
    v1Prefixes: ['emq', 'bull'],
    bufferLimit: 64 * 2 ** 20,
    nodeLease: 30_000,
    name: 'echomq-node',
    log: () => undefined,
    ...given,
  };
  const day = 86_400_000;
  checkWhole('connectTimeout', options.connectTimeout, 1, day, 'milliseconds, 1 to a day');
  checkWhole('commandTimeout', options.commandTimeout, 1, day, 'milliseconds, 1 to a day');
  checkWhole('dataLimit', options.dataLimit, 1, MAX_DATA_BYTES, `1 to ${MAX_DATA_BYTES}`);
  checkWhole('bufferLimit', options.bufferLimit, 2 ** 20, 2 ** 40, '1 MiB to 1 TiB');
  checkWhole('nodeLease', options.nodeLease, 3_000, day, 'milliseconds, 3,000 to a day');
  if (!/^[A-Za-z0-9._:-]*$/.test(options.name)) throw badOption('name', options.name, '[A-Za-z0-9._:-]*');
  return options;
}

// What the parts of this client share. Events: reconnect.
export class ClientCore extends EventEmitter {
  readonly options: Required<ClientOptions>;
  readonly holder: NodeHolder;
  // Counts the changes of contact with the server, to tell whether it was unbroken.
  contact = 0;
  private readonly address;
  private readonly main: Connection;
  private readonly clock = new ServerClock();
  private offsetUs?: number; // of the server's clock and ours, as estimated last
  private readonly queues = new Map<string, QueueCore>();
  private runId = '';
  private flushes = 0;
  private buffered = 0;
  private permitTaken = false;
  private permitWaiters: Array<() => void> = [];
  private timers: NodeJS.Timeout[] = [];
  private closedNow = false;

  constructor(server: string | RedisOptions, options: ClientOptions) {
    super();
    this.setMaxListeners(0);
    this.options = withDefaults(options);
    this.address = addressOf(server);
    this.holder = new NodeHolder(this);
    this.main = this.makeLane('');
  }

  async connect(): Promise<void> {
    const deadline = monotonicMs() + this.options.connectTimeout;
    let problem: EchoMQError | undefined;
    let last = false;
    const first = new Promise<void>((resolve, reject) => {
      this.main.on('fatal', reject);
      this.main.once('ready', resolve);
    });
    this.main.on('down', (why: EchoMQError) => {
      ++this.contact;
      problem = why;
      this.log('warning', why.message);
    });
    this.main.on('ready', (info) => {
      ++this.contact;
      if (info.runId !== this.runId) this.clock.reset();
      this.runId = info.runId;
      this.log('info', `connected to ${this.address.shown}, server ${info.version}`);
      if (last)
        void this.sampleClock(3).then(
          () => this.emit('reconnect'),
          () => undefined,
        );
    });
    this.main.start();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(problem ?? new EchoMQError('timeout', `no answer from ${this.address.shown} in time`)),
        this.options.connectTimeout,
      );
    });
    try {
      await Promise.race([first, late]);
      for (;;) {
        try {
          await Promise.race([this.sampleClock(3).then(() => this.holder.with()), late]);
          break;
        } catch (error) {
          // Lost on the way: the next connection asks again, while there is time.
          if (!(error instanceof EchoMQError) || !error.unknownOutcome || monotonicMs() >= deadline) throw error;
        }
      }
    } catch (error) {
      this.closedNow = true;
      this.main.close();
      throw error;
    } finally {
      clearTimeout(timer);
      this.main.removeAllListeners('fatal');
    }
    last = true;
    const every = (ms: number, act: () => Promise<unknown>): void => {
      const timer = setInterval(() => void (this.main.ready && act().catch(() => undefined)), ms);
      timer.unref();
      this.timers.push(timer);
    };
    every(Math.min(CLOCK_EVERY_MS, this.options.nodeLease / 3), () => this.sampleClock(1));
    every(this.options.nodeLease / 3, () => this.holder.renew());
  }

  async close(): Promise<void> {
    if (this.closedNow) return;
    this.closedNow = true;
    for (const timer of this.timers) clearInterval(timer);
    if (this.main.ready) await this.holder.giveBack();
    this.main.close();
    this.emit('close');
  }

  get closed(): boolean {
    return this.closedNow;
  }
  get connected(): boolean {
    return this.main.ready;
  }
  get killDenied(): boolean {
    return this.main.killDenied;
  }
  get shown(): string {
    return this.address.shown;
  }
  get serverVersion(): string {
    return this.main.info.version;
  }

  log(level: LogLevel, text: string): void {
    this.options.log(level, text);
  }

  // By the server's clock, as estimated; by ours where an ACL denies TIME.
  nowMs(): number {
    return this.offsetUs === undefined ? Date.now() : Math.floor((monotonicUs() + this.offsetUs) / 1_000);
  }

  nextFlush(): number {
    return ++this.flushes;
  }

  queue(given: string): QueueCore {
    const name = queueName(given);
    let core = this.queues.get(name);
    if (!core) {
      core = new QueueCore(this, name);
      this.queues.set(name, core);
    }
    return core;
  }

  // Sends a script; EVALSHA, and EVAL where the server answers NOSCRIPT: two commands at most. Error
  // replies are thrown as typed errors that name the queue and the probed key.
  async call<Name extends ScriptName>(
    call: ScriptCall<Name>,
    queue: string,
    probe: string,
    timeoutMs = this.options.commandTimeout,
  ): Promise<Reply> {
    try {
      try {
        return await this.main.send(...call.words(false), timeoutMs);
      } catch (error) {
        if (!(error instanceof ErrorReply) || !error.message.startsWith('NOSCRIPT')) throw error;
        return await this.main.send(...call.words(true), timeoutMs);
      }
    } catch (error) {
      throw error instanceof ErrorReply ? refusal(error.message, queue, probe) : error;
    }
  }

  // Sends a plain command. Errors: ErrorReply, unless that passes (`loading`), and those of the connection.
  async command(command: string, args: ReadonlyArray<string | Buffer>): Promise<Reply> {
    try {
      return await this.main.send(command, args, this.options.commandTimeout);
    } catch (error) {
      if (error instanceof ErrorReply && isNotReady(error.message)) throw refusal(error.message, '', '');
      throw error;
    }
  }

  // A further connection to the same server, for commands that block in it.
  makeLane(purpose: string): Connection {
    const { name, connectTimeout, allowEviction } = this.options;
    return new Connection({ address: this.address, clientName: name + purpose, connectTimeout, allowEviction });
  }

  dropConnection(why: string): void {
    this.log('warning', why);
    this.main.drop();
  }

  takeBuffer(bytes: number): void {
    const { bufferLimit } = this.options;
    if (this.buffered > 0 && this.buffered + bytes > bufferLimit)
      throw new EchoMQError(
        'backpressure',
        `adds that wait for their answer hold ${bufferLimit} bytes (bufferLimit); wait for some of them, then try again`,
        { expected: `less than ${bufferLimit} bytes in flight` },
      );
    this.buffered += bytes;
  }
  giveBuffer(bytes: number): void {
    this.buffered -= bytes;
  }

  // One job that has been through a crash runs in a process at a time.
  takeCrashPermit(): boolean {
    if (this.permitTaken) return false;
    this.permitTaken = true;
    return true;
  }
  giveCrashPermit(): void {
    this.permitTaken = false;
    const waiters = this.permitWaiters;
    this.permitWaiters = [];
    for (const waiter of waiters) waiter();
  }
  awaitCrashPermit(waiter: () => void): void {
    if (!this.permitTaken) return waiter();
    if (!this.permitWaiters.includes(waiter)) this.permitWaiters.push(waiter);
  }

  private async sampleClock(samples: number): Promise<void> {
    for (let i = 0; i < samples; ++i) {
      const sent = monotonicUs();
      let reply: Reply;
      try {
        reply = await this.main.send('time', [], this.options.commandTimeout);
      } catch (error) {
        if (error instanceof ErrorReply) return;
        throw error;
      }
      const [seconds, micros] = itemsOf(reply);
      const received = monotonicUs();
      this.clock.sample(sent, received, numberOf(seconds) * 1_000_000 + numberOf(micros));
      this.offsetUs = this.clock.nowMs(received) * 1_000 - received;
    }
  }
}

export class Client {
  constructor(readonly core: ClientCore) {}

  // The server as it was addressed, without the password.
  get url(): string {
    return this.core.shown;
  }
  // "7.0.15"; "unknown" where INFO is denied.
  get serverVersion(): string {
    return this.core.serverVersion;
  }
  // The node id that this process holds, 0..1023.
  get node(): number {
    return this.core.holder.node;
  }
  // Milliseconds since 1970 by the server's clock, as estimated.
  get serverTimeMs(): number {
    return this.core.nowMs();
  }

  // A new id, unique in the deployment: a decimal Snowflake.
  async mintId(): Promise<string> {
    const { holder } = this.core;
    await holder.with();
    return holder.mintId() ?? holder.mintRenewed();
  }

  // The names of all queues that were ever opened here, in alphabetical order.
  async queues(): Promise<string[]> {
    const reply = await this.core.command('zrange', [reserveKey('queues'), '0', '-1']);
    return itemsOf(reply).map(String).sort();
  }

  // Gives the node id back and ends the connection. Stop workers and listeners first; what is in flight is
  // not answered any more.
  close(): Promise<void> {
    return this.core.close();
  }
}

// Connects and proves that the server can be used: reachable, recent enough (7.0), not loading, not
// evicting, and with a free node id. `server` is redis://, rediss://, valkey://, valkeys://,
// unix:///path?db=N, or the options of ioredis.
// Errors: invalid_url, invalid_argument, unavailable, timeout, loading, denied, server_too_old, config,
// fence (the deployment is of another version), nodes_exhausted.
export async function connect(server: string | RedisOptions, options: ClientOptions = {}): Promise<Client> {
  const core = new ClientCore(server, options);
  await core.connect();
  return new Client(core);
}

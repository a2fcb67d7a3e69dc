// SPDX-License-Identifier: MIT
// A connection to the server that outlives its sockets. Each socket is one client of ioredis, which neither
// reconnects nor repeats anything by itself: what may be said again is known only to who said it
// (docs/protocol.md, 5.9). Before anything is sent on a new socket, what the server still has of the old one
// is ended, so that no command of it arrives late (5.3).
import { EventEmitter } from 'node:events';

import { Command, Redis } from 'ioredis';
import type { RedisOptions } from 'ioredis';

import { Address } from './address.js';
import { EchoMQError } from './error.js';
import { monotonicMs } from './monotonic.js';
import { isNotReady } from './refusal.js';
import { Reply, textOf } from './reply.js';

export interface ServerInfo {
  version: string;
  runId: string;
}

export interface ConnectionOptions {
  address: Address;
  clientName: string;
  connectTimeout: number;
  allowEviction: boolean;
}

// What the server answered with an error line. Others failed on the way and are an EchoMQError.
export class ErrorReply extends Error {}

const UNKNOWN = 'unknown';
// How ioredis refuses what it did not send, because the socket is dead already.
const NOT_WRITABLE = "Stream isn't writeable";
const NOT_SENT = new Error('not sent');
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2000;

interface Waiting {
  go: () => void;
  refuse: (why: EchoMQError) => void;
}

// Events: ready(info), down(why), fatal(why: no further attempt will cure it).
export class Connection extends EventEmitter {
  info: ServerInfo = { version: UNKNOWN, runId: UNKNOWN };
  // Commands of a lost socket may still run, because an ACL denies ending it.
  killDenied = false;
  private redis?: Redis;
  private readyNow = false;
  private closed = false;
  private clientId = 0;
  private pause = FIRST_PAUSE_MS;
  private retry?: NodeJS.Timeout;
  private waiting = new Set<Waiting>();

  constructor(private readonly options: ConnectionOptions) {
    super();
  }

  get ready(): boolean {
    return this.readyNow;
  }

  start(): void {
    if (this.closed) return;
    const { address, connectTimeout } = this.options;
    const own: RedisOptions = {
      lazyConnect: true,
      disableClientInfo: true,
      retryStrategy: () => null,
      reconnectOnError: null,
      autoResendUnfulfilledCommands: false,
      enableReadyCheck: false,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      enableAutoPipelining: false,
      keyPrefix: '',
      connectTimeout,
    };
    const redis = new Redis({ ...address.redis, ...own });
    this.redis = redis;
    let problem = `${address.shown} cannot be reached`;
    redis.on('error', (error: Error) => (problem = `${address.shown}: ${error.message}`));
    redis.on('end', () => this.lost(redis, problem));
    redis.connect().then(
      () => this.greet(redis),
      () => undefined, // its end tells
    );
  }

  close(): void {
    this.closed = true;
    this.readyNow = false;
    if (this.retry) clearTimeout(this.retry);
    const why = new EchoMQError('closed', 'the client was closed');
    for (const one of this.waiting) one.refuse(why);
    this.waiting.clear();
    this.redis?.disconnect();
  }

  // Ends the present socket; the next one ends what the server still has of it.
  drop(): void {
    this.redis?.disconnect();
  }

  // Sends when the connection is there. Errors: ErrorReply; unavailable (never sent), timeout,
  // connection_lost, closed.
  async send(command: string, args: ReadonlyArray<string | Buffer>, timeoutMs: number): Promise<Reply> {
    const deadline = monotonicMs() + timeoutMs;
    for (let left = timeoutMs; ; left = Math.max(deadline - monotonicMs(), 1)) {
      if (!this.readyNow) await this.untilReady(left);
      try {
        return await this.write(this.redis as Redis, command, args, Math.max(deadline - monotonicMs(), 1));
      } catch (error) {
        if (error !== NOT_SENT) throw error;
      }
    }
  }

  private untilReady(timeoutMs: number): Promise<void> {
    if (this.closed) return Promise.reject(new EchoMQError('closed', 'the client was closed'));
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        go: () => {
          clearTimeout(timer);
          resolve();
        },
        refuse: (why) => {
          clearTimeout(timer);
          reject(why);
        },
      };
      const timer = setTimeout(() => {
        this.waiting.delete(waiting);
        const { shown } = this.options.address;
        reject(new EchoMQError('unavailable', `${shown} cannot be reached; nothing was sent`, { url: shown }));
      }, timeoutMs);
      this.waiting.add(waiting);
    });
  }

  private write(
    redis: Redis,
    command: string,
    args: ReadonlyArray<string | Buffer>,
    timeoutMs: number,
  ): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new EchoMQError('timeout', `no answer to ${command.toUpperCase()} within ${timeoutMs} ms`)),
        timeoutMs,
      );
      const sent = new Command(command, args as Array<string | Buffer>, { replyEncoding: null });
      sent.promise.then(
        (reply) => {
          clearTimeout(timer);
          resolve(reply as Reply);
        },
        (error: Error) => {
          clearTimeout(timer);
          if (error.name === 'ReplyError') return reject(new ErrorReply(error.message));
          // Its end is about to be told; until then nobody shall try it again.
          if (redis === this.redis) this.readyNow = false;
          if (error.message.startsWith(NOT_WRITABLE)) return reject(NOT_SENT);
          reject(new EchoMQError('connection_lost', `the connection was lost: ${error.message}`));
        },
      );
      redis.sendCommand(sent);
    });
  }

  private lost(redis: Redis, problem: string): void {
    if (redis !== this.redis) return;
    this.readyNow = false;
    this.redis = undefined;
    if (this.closed) return;
    this.emit('down', new EchoMQError('unavailable', problem, { url: this.options.address.shown }));
    if (this.closed) return;
    this.retry = setTimeout(() => this.start(), this.pause);
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE_MS);
  }

  // The first words on a new socket.
  private async greet(redis: Redis): Promise<void> {
    const { address, clientName, connectTimeout } = this.options;
    const say = (command: string, ...args: string[]): Promise<Reply | ErrorReply> =>
      this.write(redis, command, args, connectTimeout).catch((error: Error) => {
        if (error instanceof ErrorReply) return error;
        throw error;
      });
    try {
      const user = address.user === '' ? 'default' : address.user;
      const [auth, id, , info, select] = await Promise.all([
        address.password === '' ? null : say('auth', user, address.password),
        say('client', 'ID'),
        say('client', 'SETNAME', clientName),
        say('info'),
        address.db === 0 ? null : say('select', String(address.db)),
      ]);
      const found = judge({ auth, id, info, select }, this.options.allowEviction);
      if (this.clientId !== 0 && found.runId === this.info.runId && found.runId !== UNKNOWN) {
        const killed = await say('client', 'KILL', 'ID', String(this.clientId));
        this.killDenied = killed instanceof ErrorReply && killed.message.startsWith('NOPERM');
      } else {
        this.killDenied = this.clientId !== 0 && (found.runId === UNKNOWN || this.info.runId === UNKNOWN);
      }
      if (redis !== this.redis || this.closed) return;
      this.clientId = found.clientId;
      this.info = { version: found.version, runId: found.runId };
      this.pause = FIRST_PAUSE_MS;
      this.readyNow = true;
      const waiting = [...this.waiting];
      this.waiting.clear();
      this.emit('ready', this.info);
      for (const one of waiting) one.go();
    } catch (error) {
      if (redis !== this.redis) return;
      const why = error as EchoMQError;
      if (['denied', 'config', 'server_too_old', 'invalid_url', 'server_error'].includes(why.code))
        this.emit('fatal', why);
      redis.disconnect();
    }
  }
}

interface Greeting {
  auth: Reply | ErrorReply;
  id: Reply | ErrorReply;
  info: Reply | ErrorReply;
  select: Reply | ErrorReply;
}

// Whether the server can be used.
function judge(said: Greeting, allowEviction: boolean): ServerInfo & { clientId: number } {
  const { auth, id, info, select } = said;
  for (const answer of [auth, id])
    if (answer instanceof ErrorReply && (answer === auth || /^(NOAUTH|WRONGPASS)/.test(answer.message)))
      throw new EchoMQError(
        'denied',
        `the server refused the login: ${answer.message}; give user and password in the url`,
        { found: answer.message },
      );
  if (info instanceof ErrorReply && isNotReady(info.message))
    throw new EchoMQError('loading', 'the server is loading its data');
  const text = info instanceof ErrorReply ? '' : textOf(info);
  const value = (name: string): string => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(text)?.[1] ?? UNKNOWN;
  const redis = value('redis_version');
  const valkey = value('valkey_version');
  const version = valkey === UNKNOWN ? redis : valkey;
  if (version !== UNKNOWN && Number.parseInt(version, 10) < 7)
    throw new EchoMQError(
      'server_too_old',
      `the server is version ${version}; EchoMQ needs Redis 7.0 or Valkey 7.2, or later`,
      { found: version, expected: '7.0' },
    );
  const policy = value('maxmemory_policy');
  if (!allowEviction && policy !== UNKNOWN && policy !== 'noeviction')
    throw new EchoMQError(
      'config',
      `the server's maxmemory-policy is ${policy}, which drops jobs when memory is short; set it to noeviction, ` +
        'or connect with allowEviction',
      { found: policy, expected: 'noeviction' },
    );
  if (value('loading') === '1') throw new EchoMQError('loading', 'the server is loading its data');
  if (select instanceof ErrorReply)
    throw new EchoMQError('invalid_url', `the server has no such database: ${select.message}`, {
      found: select.message,
    });
  return { version, runId: value('run_id'), clientId: typeof id === 'number' ? id : 0 };
}

// SPDX-License-Identifier: MIT
/** A client of ioredis, or of node-redis. */
export type Connection =
  | { call(...words: string[]): Promise<unknown> }
  | { sendCommand(words: string[]): Promise<unknown> };

export type FencedState = 'migrated-away' | 'being-migrated' | 'v2' | 'foreign';

/** The queue is none that a v1 client may use. */
export class V1FenceError extends Error {
  readonly code: 'EMQ_V1_FENCE';
  readonly queue: string;
  readonly prefix: string;
  /** The key that showed it. */
  readonly key: string;
  readonly state: FencedState;
  /** What it holds: a version, a tombstone, or a type. */
  readonly found: string;
}

/**
 * Resolves when nothing of EchoMQ 2 stands there, rejects with a V1FenceError when it does, and with
 * the connection's own errors. It writes nothing.
 */
export function assertV1(
  connection: Connection,
  queue: string,
  options?: { prefix?: string },
): Promise<{ state: 'fresh' | 'v1'; found: string }>;

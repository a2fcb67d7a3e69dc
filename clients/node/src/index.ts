// SPDX-License-Identifier: MIT
// EchoMQ for Node: the public names. README.md is the manual; the wire is docs/protocol.md of the tree.
export { Client, connect } from './client.js';
export type { ClientOptions, LogLevel } from './client.js';
export { EchoMQError } from './error.js';
export type { ErrorCode } from './error.js';
export { ID_EPOCH_MS, brandId, decodeId, isBrandedId, isMintedId, unbrandId } from './id.js';
export type { IdParts } from './id.js';
export type { Job, StopReason } from './job.js';
export { buildKey, checkAnyJobId, checkJobId, parseKey, queueName, slot } from './keyspace.js';
export type { ParsedKey } from './keyspace.js';
export type { Backoff, Deduplication, JobOptions, Keep } from './options.js';
export { Outcome } from './outcome.js';
export { Queue } from './queue.js';
export type { AddResult, Counts, NewJob } from './queue.js';
export type { AddedJob } from './add_batcher.js';
export type { JobInfo, JobState } from './record.js';
export { QueueEvents } from './queue_events.js';
export type { QueueEventsOptions } from './queue_events.js';
export type { EventPlace, EventType, QueueEvent } from './event_stream.js';
export { Worker } from './worker.js';
export type { Handler, WorkerOptions, WorkerStats } from './worker.js';
export { revision, wireVersion } from './generated/scripts.js';

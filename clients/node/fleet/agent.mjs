// SPDX-License-Identifier: MIT
// A member of the fleet: does what `emq probe fleet` tells it, in the language of app/fleet/agent.h: one JSON
// command a line on stdin, one JSON answer a line on stdout. The end of stdin ends it.
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

import { jsonOfOptions, optionsOf } from './options.mjs';

const require = createRequire(import.meta.url);
const {
  EchoMQError,
  Outcome,
  Queue,
  QueueEvents,
  Worker,
  connect,
  revision,
  wireVersion,
} = require('../dist/index.js');
const { version } = require('../package.json');

let mq;
let runs = [];
let workers = [];
const heard = new Map();

const bytes = (text) => Buffer.from(text, 'base64');
const base64 = (buffer) => buffer.toString('base64');
const queue = (command) => new Queue(mq, command.queue);

function jsonOf(job) {
  return {
    id: job.id,
    name: job.name,
    data: base64(job.data),
    state: job.state,
    options: jsonOfOptions(job.options),
    attempts_made: job.attemptsMade,
    attempts_started: job.attemptsStarted,
    crashes: job.crashes,
    added_ms: job.addedMs,
    due_ms: job.dueMs,
    processed_ms: job.processedMs,
    finished_ms: job.finishedMs,
    worker: job.worker,
    progress: base64(job.progress),
    result: job.result === undefined ? null : base64(job.result),
    failed_reason: job.failedReason,
    parent_queue: job.parentQueue,
    parent: job.parent,
  };
}

const verbs = {
  async hello({ url }) {
    mq = await connect(url, { name: 'node-fleet' });
    const { manifest } = require('../dist/generated/scripts.js');
    const info = (await mq.core.command('info', ['server'])).toString();
    const of = (name) => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1];
    const name = of('dragonfly_version') ? 'Dragonfly' : of('valkey_version') ? 'Valkey' : 'Redis';
    return {
      runtime: 'node',
      version: `echomq ${version} on node ${process.versions.node}`,
      wire: wireVersion,
      bundle: createHash('sha1').update(manifest).digest('hex'),
      can: ['plant'],
      server: { name, version: of('dragonfly_version') ?? of('valkey_version') ?? of('redis_version') ?? 'unknown' },
    };
  },
  async add(command) {
    const jobs = command.jobs.map(({ data, options = {} }) => ({ data: bytes(data), options: optionsOf(options) }));
    const results = await queue(command).addBulk(jobs);
    return {
      added: results.map(({ id, deduplicated, error }) => (error ? { code: error.code } : { id, deduplicated })),
    };
  },
  async work({
    queue: name,
    concurrency = 1,
    lease_ms: lease = 30_000,
    name: as = 'node',
    fail_before = 0,
    hang = false,
  }) {
    runs = [];
    const handler = async (job) => {
      runs.push({
        queue: job.queue,
        id: job.id,
        name: job.name,
        data: base64(job.bytes),
        attempt: job.attempt,
        crashes: job.crashes,
        traceparent: job.traceparent,
        began_ms: mq.serverTimeMs,
        children: [],
      });
      if (hang) await new Promise((resolve) => job.signal.addEventListener('abort', resolve));
      if (job.attempt < fail_before) throw new Error(`attempt ${job.attempt}`);
      return Outcome.done(job.bytes);
    };
    workers.push(new Worker(mq, name, handler, { concurrency, lease, name: as }));
    return {};
  },
  runs: async () => ({ runs }),
  async stop() {
    const stats = { completed: 0, failed: 0, retried: 0, recovered: 0 };
    for (const worker of workers) {
      await worker.stop(5_000);
      for (const count of Object.keys(stats)) stats[count] += worker.stats[count];
    }
    workers = [];
    return { stats };
  },
  async job(command) {
    try {
      return { job: jsonOf(await queue(command).job(command.id)) };
    } catch (error) {
      if (error instanceof EchoMQError && error.code === 'not_found') return { job: null };
      throw error;
    }
  },
  counts: (command) => queue(command).counts(),
  pause: async (command) => ({ changed: await queue(command).pause() }),
  resume: async (command) => ({ changed: await queue(command).resume() }),
  async remove(command) {
    await queue(command).remove(command.id);
    return {};
  },
  async listen({ queue: name }) {
    const list = [];
    const events = new QueueEvents(mq, name);
    heard.set(name, list);
    events.on('event', (event) => list.push(`${event.name} ${event.job}`));
    await events.ready();
    return {};
  },
  heard: async ({ queue: name }) => ({ events: heard.get(name) ?? [] }),
  // An add whose ids are not minted but given: of any size, as another process may have minted them.
  async plant({ queue: name, ids, data }) {
    const { ScriptCall } = require('../dist/script_call.js');
    const { jobKey } = require('../dist/keyspace.js');
    const core = mq.core.queue(name);
    await core.withOpen();
    const call = new ScriptCall('job/add', core.keys, {
      revision,
      now: mq.serverTimeMs,
      lane: `${mq.node}.9`,
      grant: mq.core.holder.grant,
      flush: mq.core.nextFlush(),
      count: ids.length,
      shapes: `${ids.length}:0:0:0:0:3:0:job`,
    });
    for (const id of ids) call.itemKeys({ job: jobKey(name, id) }).itemArgs({ id, data: bytes(data) });
    const answer = String(await core.call(call));
    if (answer !== 'ok') throw new Error(`job/add answered ${answer}`);
    return {};
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const command = JSON.parse(line);
    if (!Object.hasOwn(verbs, command.do)) throw new Error(`this member cannot do "${command.do}"`);
    answer = await verbs[command.do](command);
  } catch (error) {
    answer = { error: error.message };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await mq?.close();
process.exit(0);

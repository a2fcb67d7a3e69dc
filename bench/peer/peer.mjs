// SPDX-License-Identifier: MIT
// The peer of the bench, BullMQ, as a process of its own that speaks the language of
// app/bench/subject.h. Its options are its defaults; only retention is set to what EchoMQ has, so
// that both do the same work. It is given its best use: addBulk in calls of the same size, many
// add() at a time, one Worker with the concurrency that is asked for.
import { createInterface } from 'node:readline';
import { Queue, Worker } from 'bullmq';

const PAYLOAD_BYTES = 140;
const KEEP = { default: { count: 1000, age: 24 * 3600 }, all: undefined };

const url = new URL(process.argv[2]);
const server =
  url.protocol === 'unix:'
    ? { path: url.pathname }
    : { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 6379) };
const connection = { ...server, maxRetriesPerRequest: null };

// Data is stored as JSON: a string gets two quotes.
const payload = (stamp) => String(stamp).padStart(20, '0').padEnd(PAYLOAD_BYTES - 2, 'x');
const stampOf = (data) => BigInt(data.slice(0, 20));
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

const watch = () => {
  const begin = process.hrtime.bigint();
  const cpu = process.cpuUsage();
  return () => {
    const used = process.cpuUsage(cpu);
    return {
      seconds: Number(process.hrtime.bigint() - begin) / 1e9,
      cpu_us: used.user + used.system,
    };
  };
};

const queues = new Map();
async function queueOf(name) {
  if (!queues.has(name)) {
    const queue = new Queue(name, { connection });
    await queue.waitUntilReady();
    queues.set(name, queue);
  }
  return queues.get(name);
}

let latencies = [];
let worker;

const commands = {
  async bulk_add({ queue: name, jobs, at_once: atOnce }) {
    const queue = await queueOf(name);
    const answer = watch();
    for (let left = jobs; left > 0; left -= atOnce) {
      const some = [];
      for (let i = 0; i < Math.min(left, atOnce); i += 1)
        some.push({ name: 'job', data: payload(0) });
      await queue.addBulk(some);
    }
    return answer();
  },

  // Threads do not exist here: as many adds are on their way as threads were asked for.
  async add({ queue: name, jobs, in_flight: inFlight, threads }) {
    const queue = await queueOf(name);
    let next = 0;
    const chain = async () => {
      while (next < jobs) {
        next += 1;
        await queue.add('job', payload(0));
      }
    };
    const answer = watch();
    await Promise.all(Array.from({ length: inFlight ?? threads }, chain));
    return answer();
  },

  async process({ queue: name, jobs, concurrency, keep }) {
    await queueOf(name);
    const answer = watch();
    let result;
    const worked = new Promise((done) => {
      let completed = 0;
      worker = new Worker(name, async () => {}, {
        connection,
        concurrency,
        removeOnComplete: KEEP[keep],
      });
      worker.on('error', (error) => console.error(error));
      worker.on('completed', () => {
        completed += 1;
        if (completed === jobs) {
          result = answer();
          done();
        }
      });
    });
    await worked;
    await worker.close();
    return result;
  },

  async work({ queue: name, concurrency }) {
    worker = new Worker(
      name,
      async (job) => {
        const stamp = stampOf(job.data);
        if (stamp > 0n) latencies.push(Number(process.hrtime.bigint() - stamp) / 1e3);
      },
      { connection, concurrency, removeOnComplete: KEEP.default },
    );
    worker.on('error', (error) => console.error(error));
    await worker.waitUntilReady();
    return {};
  },

  async paced_add({ queue: name, jobs, rate }) {
    const queue = await queueOf(name);
    const answer = watch();
    const begin = performance.now();
    const added = [];
    for (let i = 0; i < jobs; i += 1) {
      const due = begin + (i * 1000) / rate;
      const wait = due - performance.now();
      if (wait > 0.5) await sleep(wait);
      added.push(queue.add('job', payload(process.hrtime.bigint())));
    }
    await Promise.all(added);
    return answer();
  },

  async collect({ jobs }) {
    while (latencies.length < jobs) await sleep(2);
    const taken = latencies;
    latencies = [];
    return { latencies_us: taken };
  },
};

async function run(line) {
  try {
    const command = JSON.parse(line);
    const limit = (command.limit_s ?? 120) * 1000;
    let timer;
    const late = new Promise((_, refuse) => {
      timer = setTimeout(() => refuse(new Error('not done within the limit of the command')), limit);
    });
    try {
      return await Promise.race([commands[command.do](command), late]);
    } finally {
      clearTimeout(timer);
    }
  } catch (error) {
    return { error: String(error?.stack ?? error) };
  }
}

const lines = createInterface({ input: process.stdin });
lines.on('close', () => process.exit(0));
for await (const line of lines) console.log(JSON.stringify(await run(line)));

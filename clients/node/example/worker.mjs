// SPDX-License-Identifier: MIT
// A worker for a supervisor: it ends in good order by SIGTERM, giving back what it has not begun.
//
//   node example/worker.mjs [URL]
import { Worker, connect } from 'echomq';

const mq = await connect(process.argv[2] ?? process.env.EMQ_URL ?? 'redis://127.0.0.1:6379');
const worker = new Worker(
  mq,
  'thumbs',
  async (job) => {
    const { path, width } = job.json();
    console.log(`${path}, ${width} pixels wide`);
    return { path, pixels: width * width };
  },
  { concurrency: 8 },
);
process.once('SIGTERM', () => worker.stop());
await worker.stopped;
await mq.close();

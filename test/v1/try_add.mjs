// SPDX-License-Identifier: MIT
// node try_add.mjs URL PREFIX QUEUE
// A stock v1 client adds a job and works one: exits 0 when it was refused both.
import { connect } from './connect.mjs';
import bullmq from 'bullmq';

const [url, prefix, name] = process.argv.slice(2);
const connection = connect(url);
const queue = new bullmq.Queue(name, { connection, prefix });
queue.on('error', () => {});
const refused = async (what, act) => {
  try {
    await act();
    console.log(`${what}: done, although it should have been refused`);
    process.exitCode = 1;
  } catch (error) {
    console.log(`${what}: refused (${error.message.split('\n')[0].slice(0, 90)})`);
  }
};
await refused('add', () => queue.add('late', {}));
const own = connection.duplicate();
const worker = new bullmq.Worker(name, null, { connection: own, prefix });
worker.on('error', () => {});
await refused('fetch', async () => {
  const job = await worker.getNextJob('token', { block: false });
  if (job) await job.moveToCompleted('done', 'token', false);
});
// The worker's own connections would go on trying.
process.exit();

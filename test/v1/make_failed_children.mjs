// SPDX-License-Identifier: MIT
// node make_failed_children.mjs URL PREFIX measured|oldest|newest
// Makes parents of which a child has failed, one for each thing that v1 does then, and each with a
// child that is not done. Dumped by dump_fixture.mjs it is fixtures/failed_children.json.
import { client, connect } from './connect.mjs';
import { work } from './deployment.mjs';

const [url, prefix, which] = process.argv.slice(2);
const connection = connect(url);
const bullmq = await client(which);
const hour = 3600_000;
const producer = new bullmq.FlowProducer({ connection, prefix });

async function break_one(name, policy) {
  await producer.add({
    name, queueName: 'mail', data: {}, opts: { jobId: `parent-${name}` },
    children: [
      { name: 'breaks', queueName: 'parts', data: {}, opts: { ...policy, jobId: `child-${name}` } },
      { name: 'later', queueName: 'parts', data: {}, opts: { jobId: `later-${name}`, delay: hour } },
    ],
  });
  await work(bullmq, 'parts', connection, prefix, 1, async (job) => {
    throw new Error(`${job.id} breaks: kaputt, ü`);
  });
}

await break_one('ignored', { ignoreDependencyOnFailure: true });
await break_one('removed', { removeDependencyOnFailure: true });
await break_one('failing', { failParentOnFailure: true });
// It fails when a worker takes it.
await work(bullmq, 'mail', connection, prefix, 1, async () => undefined);
// The one that is to go on waits for a worker.
await break_one('continued', { continueParentOnFailure: true });
await producer.close();
console.log('mail parts');
await connection.quit();

// SPDX-License-Identifier: MIT
// What the tests of one file share: a server, a client of it, and queues that none of them has used.
import { after, before } from 'node:test';

import { Queue, connect } from '../dist/index.mjs';
import { startServer } from './server.mjs';

export let server;
export let mq;
let number = 0;
export const fresh = () => new Queue(mq, `queue-${++number}`);

before(async () => {
  server = await startServer();
  mq = await connect(server.url);
});
after(async () => {
  await mq.close();
  await server.stop();
});

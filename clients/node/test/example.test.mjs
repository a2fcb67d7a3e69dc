// SPDX-License-Identifier: MIT
// The examples run: a service enqueues, a worker works, both end by SIGTERM.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { eventually, startServer } from './server.mjs';

let server;
before(async () => (server = await startServer()));
after(() => server.stop());

function start(file, ...args) {
  const child = spawn(process.execPath, [fileURLToPath(new URL(`../example/${file}`, import.meta.url)), server.url, ...args]);
  child.said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (child.said += text));
  return child;
}

test('a web service enqueues for a worker', async () => {
  const service = start('service.mjs', '0');
  const worker = start('worker.mjs');
  const url = await eventually(() => /http:\S+/.exec(service.said)?.[0], 'the service listens');
  const ask = async (path, options) => {
    const answer = await fetch(url + path, options);
    return [answer.status, await answer.json()];
  };
  const order = { method: 'POST', body: '{"path":"cat.png","width":200}', headers: { 'idempotency-key': 'order-1' } };
  assert.deepEqual(await ask('/thumbs', order), [202, { id: 'order-1', deduplicated: false }]);
  assert.deepEqual(await ask('/thumbs', order), [202, { id: 'order-1', deduplicated: true }]);
  const done = await eventually(async () => {
    const [, job] = await ask('/thumbs/order-1');
    return job.state === 'completed' && job;
  }, 'it is done');
  assert.deepEqual(done.result, { path: 'cat.png', pixels: 40_000 });
  assert.equal((await ask('/thumbs/nobody'))[0], 404);
  assert.equal((await ask('/thumbs', { method: 'POST', body: '{' }))[0], 400);
  assert.match(worker.said, /cat\.png, 200 pixels wide/);
  for (const child of [service, worker]) {
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    assert.equal(code, 0, child.said);
  }
});

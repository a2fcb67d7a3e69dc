// SPDX-License-Identifier: MIT
// A web service that enqueues: POST /thumbs {"path":"cat.png","width":200} answers the job's id at once, and a
// worker of whatever runtime does the work (worker.mjs here, or the C++ program of the tree's README). GET
// /thumbs/ID tells how far it is.
//
//   node example/service.mjs [URL] [PORT]      URL: redis://127.0.0.1:6379, or EMQ_URL. PORT: 8080; 0: any free one
import { createServer } from 'node:http';

import { EchoMQError, Queue, connect } from 'echomq';

const [url = process.env.EMQ_URL ?? 'redis://127.0.0.1:6379', port = '8080'] = process.argv.slice(2);
const mq = await connect(url);
const thumbs = new Queue(mq, 'thumbs');

async function bodyOf(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString());
}

// An Idempotency-Key makes the job's id: who sends the request twice gets one job.
async function enqueue(request) {
  const id = request.headers['idempotency-key'];
  try {
    return { status: 202, body: await thumbs.add(await bodyOf(request), { attempts: 3, ...(id && { id }) }) };
  } catch (error) {
    if (error instanceof EchoMQError && error.code === 'duplicate')
      return { status: 202, body: { id, deduplicated: true } };
    if (error instanceof SyntaxError) return { status: 400, body: { error: error.message } };
    throw error;
  }
}

async function look(id) {
  const { state, result, failedReason } = await thumbs.job(id);
  return {
    status: 200,
    body: { id, state, ...(result && { result: JSON.parse(result) }), ...(failedReason && { failedReason }) },
  };
}

const STATUS = {
  not_found: 404,
  invalid_name: 400,
  invalid_argument: 400,
  full: 503,
  queue_full: 503,
  unavailable: 503,
};
const server = createServer(async (request, response) => {
  let answer = { status: 404, body: { error: 'POST /thumbs, GET /thumbs/ID' } };
  try {
    const [, path, id] = request.url.split('/');
    if (path === 'thumbs' && request.method === 'POST') answer = await enqueue(request);
    else if (path === 'thumbs' && id) answer = await look(id);
  } catch (error) {
    answer = { status: STATUS[error.code] ?? 500, body: { error: error.message } };
  }
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
});
server.listen(Number(port), '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${server.address().port}`));

process.once('SIGTERM', () => {
  server.close(() => mq.close());
  server.closeIdleConnections();
});

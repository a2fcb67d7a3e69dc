// SPDX-License-Identifier: MIT
// Whether a queue is one that a v1 client may work on. It only looks: a few reads, no write.
'use strict';

const OURS = 'echomq:';

class V1FenceError extends Error {
  constructor(message, parts) {
    super(message);
    this.name = 'V1FenceError';
    this.code = 'EMQ_V1_FENCE';
    Object.assign(this, parts);
  }
}

// ioredis has call(), node-redis has sendCommand().
function sender(connection) {
  if (connection && typeof connection.call === 'function')
    return (...words) => connection.call(...words);
  if (connection && typeof connection.sendCommand === 'function')
    return (...words) => connection.sendCommand(words);
  throw new TypeError('connection: expected a client of ioredis or node-redis');
}

const SAYS = {
  'migrated-away': 'has moved to EchoMQ 2: no v1 client can use it any more',
  'being-migrated': 'is being moved to EchoMQ 2: stop v1 clients until that is done, or put back',
  v2: 'is a queue of EchoMQ 2: a v1 client would only be refused there',
  foreign: 'is none of v1: something else stands in the place of its settings',
};

// What `meta` says.
async function look(send, key) {
  const type = await send('TYPE', key);
  if (type === 'none') return { state: 'fresh', found: '' };
  if (type === 'string') {
    const found = String(await send('GET', key));
    return { state: found.startsWith(OURS) ? 'migrated-away' : 'foreign', found };
  }
  if (type !== 'hash') return { state: 'foreign', found: type };
  const [version, created, revision] = await send('HMGET', key, 'version', 'created', 'min_revision');
  const found = version === null ? '' : String(version);
  if (found.startsWith(OURS) && found.endsWith(':migrating')) return { state: 'being-migrated', found };
  // Fields that no v1 client writes, nor removes: the version may have been overwritten by one.
  if (found.startsWith(OURS) || (created !== null && revision !== null)) return { state: 'v2', found };
  return { state: 'v1', found };
}

// Until a migration is finished the source keeps what its tombstones stand for under these names, and
// may get it back.
const KEPT = ['meta:v1', 'id:v1', 'repeats:v1'];

async function moved(send, base) {
  const kept = Number(await send('EXISTS', ...KEPT.map((word) => base + word)));
  return kept > 0 ? 'being-migrated' : 'migrated-away';
}

async function assertV1(connection, queue, { prefix = 'bull' } = {}) {
  if (typeof queue !== 'string' || queue === '') throw new TypeError('queue: expected its name');
  const send = sender(connection);
  const base = `${prefix}:${queue}:`;
  const key = `${base}meta`;
  const fail = (state, found, says) => {
    throw new V1FenceError(`queue "${queue}" (${key}) ${says}`, { queue, prefix, key, state, found });
  };
  const seen = await look(send, key);
  const { found } = seen;
  const state = seen.state === 'migrated-away' ? await moved(send, base) : seen.state;
  if (SAYS[state]) fail(state, found, SAYS[state]);
  if (state === 'fresh') {
    const id = `${base}id`;
    const counter = (await send('TYPE', id)) === 'string' ? String(await send('GET', id)) : '';
    if (counter.startsWith(OURS)) {
      const where = await moved(send, base);
      fail(where, counter, SAYS[where]);
    }
    if (prefix === 'emq' && /^\{.*\}$/.test(queue))
      fail('v2', '', 'would be made of keys of EchoMQ 2; choose another prefix');
  }
  return { state, found };
}

module.exports = { assertV1, V1FenceError };

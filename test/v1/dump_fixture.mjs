// SPDX-License-Identifier: MIT
// node dump_fixture.mjs URL PREFIX > FIXTURE.json
// Writes all keys under a prefix as JSON, for tests that run where no v1 client is: for each key its
// type and content, and how long it lives. Streams of events are left out, since nothing reads them.
import { connect } from './connect.mjs';

const [url, prefix] = process.argv.slice(2);
const connection = connect(url);
const readers = {
  string: (key) => connection.get(key),
  list: (key) => connection.lrange(key, 0, -1),
  set: async (key) => (await connection.smembers(key)).sort(),
  hash: async (key) => Object.entries(await connection.hgetall(key)).sort(([a], [b]) => (a < b ? -1 : 1)),
  zset: async (key) => {
    const flat = await connection.zrange(key, 0, -1, 'WITHSCORES');
    return flat.filter((_, i) => i % 2 === 0).map((member, i) => [member, flat[2 * i + 1]]);
  },
};
const dumped = {};
for (const key of (await connection.keys(`${prefix}:*`)).sort()) {
  const type = await connection.type(key);
  if (!readers[type]) continue;
  const left = await connection.pttl(key);
  dumped[key] = { type, ...(left > 0 ? { ttl: left } : {}), value: await readers[type](key) };
}
// Stack traces name the folder of whoever made this.
const here = new URL('.', import.meta.url).pathname;
console.log(JSON.stringify(dumped, null, 1).replaceAll(here, '/srv/app/'));
await connection.quit();

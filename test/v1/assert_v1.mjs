// SPDX-License-Identifier: MIT
// clients/v1-fence, as a service of v1 uses it: asks about one queue and prints what came of it.
//
//   node assert_v1.mjs SOCKET PREFIX QUEUE [require]
import { createRequire } from 'node:module';

import { Redis } from 'ioredis';

import * as imported from '../../clients/v1-fence/index.mjs';

const [path, prefix, queue, how] = process.argv.slice(2);
const required = createRequire(import.meta.url)('../../clients/v1-fence/index.cjs');
const { assertV1, V1FenceError } = how === 'require' ? required : imported;

const connection = new Redis({ path, lazyConnect: true });
await connection.connect();
try {
  console.log(JSON.stringify({ passed: await assertV1(connection, queue, { prefix }) }));
} catch (problem) {
  const { code, state, found, key, message } = problem;
  console.log(
    JSON.stringify({ typed: problem instanceof V1FenceError, code, state, found, key, message }),
  );
}
connection.disconnect();

// SPDX-License-Identifier: MIT
// A server of the test's own on a unix socket, in a folder of its own.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { Redis } from 'ioredis';

// Debian keeps some servers in sbin, which is not on everybody's PATH.
const PATH = `${process.env.PATH}:/usr/local/sbin:/usr/sbin`;

function program() {
  for (const name of ['valkey-server', 'redis-server'])
    if (spawnSync(name, ['--version'], { env: { ...process.env, PATH } }).status === 0) return name;
  throw new Error('neither valkey-server nor redis-server is installed');
}

export async function startServer(...settings) {
  const folder = mkdtempSync(join(tmpdir(), 'emq-node-'));
  const path = join(folder, 's');
  const fixed = ['--port', '0', '--unixsocket', path, '--dir', folder, '--save', '', '--appendonly', 'no'];
  const child = spawn(program(), [...fixed, ...settings], { env: { ...process.env, PATH }, stdio: 'ignore' });
  process.once('exit', () => child.kill('SIGKILL'));
  const password = settings[settings.indexOf('--requirepass') + 1 || -1];
  const raw = new Redis({ path, password, retryStrategy: () => 20, maxRetriesPerRequest: null });
  raw.on('error', () => undefined);
  await raw.ping();
  return {
    url: `unix://${path}`,
    path,
    raw,
    async stop() {
      raw.disconnect();
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// Waits until `condition` answers something true, and answers that; fails after the deadline.
export async function eventually(condition, what = 'the condition', deadlineMs = 10_000) {
  for (const end = Date.now() + deadlineMs; ;) {
    const answer = await condition();
    if (answer) return answer;
    if (Date.now() > end) throw new Error(`${what} did not come true within ${deadlineMs} ms`);
    await pause(10);
  }
}

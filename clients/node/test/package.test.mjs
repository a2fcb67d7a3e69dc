// SPDX-License-Identifier: MIT
// What is packed can be installed into an empty folder, and comes in by both doors, with its types.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startServer } from './server.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const types = fileURLToPath(new URL('../node_modules/@types', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'emq-pack-'));
const run = (program, args, cwd) =>
  execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
let server;
let files;

const USE = `
const mq = await connect(process.argv[2]);
const queue = new Queue(mq, 'packed');
await queue.add({ n: 1 });
const worker = new Worker(mq, 'packed', (job) => console.log(job.json().n, wireVersion), { stopWhenEmpty: true });
await worker.stopped;
await mq.close();
`;

before(async () => {
  server = await startServer();
  // It is built: what would be built anew meanwhile is used by other tests.
  const packed = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root));
  files = packed[0].files.map(({ path }) => path);
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const tarball = join(folder, packed[0].filename);
  run(
    'npm',
    ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock', tarball],
    folder,
  );
});
after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('it holds what it needs and nothing else', () => {
  assert.deepEqual(files.filter((path) => !path.startsWith('dist/')).sort(), ['LICENSE', 'README.md', 'package.json']);
  assert.ok(files.includes('dist/generated/scripts.js'), 'the scripts');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json')));
  const [, project] = /project\(\s*echomq\s+VERSION ([\d.]+)/i.exec(
    readFileSync(join(root, '../../CMakeLists.txt'), 'utf8'),
  );
  assert.equal(version, project, 'the version of the package is that of the project');
  assert.doesNotMatch(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
    /"resolved"/,
    'the lock file names no host',
  );
});

test('import', () => {
  writeFileSync(join(folder, 'use.mjs'), `import { Queue, Worker, connect, wireVersion } from 'echomq';${USE}`);
  assert.equal(run('node', ['use.mjs', server.url], folder), '1 echomq:2.0.0\n');
});

test('require', () => {
  const use = `const { Queue, Worker, connect, wireVersion } = require('echomq');(async () => {${USE}})();`;
  writeFileSync(join(folder, 'use.cjs'), use);
  assert.equal(run('node', ['use.cjs', server.url], folder), '1 echomq:2.0.0\n');
});

test('both doors lead to the same classes', () => {
  const both =
    "import * as one from 'echomq';import { createRequire } from 'node:module';\n" +
    "const two = createRequire(import.meta.url)('echomq');\n" +
    'console.log(Object.keys(two).every((name) => one[name] === two[name]));';
  writeFileSync(join(folder, 'both.mjs'), both);
  assert.equal(run('node', ['both.mjs'], folder), 'true\n');
});

test('its types serve both doors', () => {
  const typed = `
const use = async (url: string): Promise<string> => {
  const mq: Client = await connect(url, { commandTimeout: 100 });
  const { id, deduplicated } = await new Queue(mq, 'q').add({ n: 1 }, { attempts: 3, backoff: { type: 'fixed', delay: 1 } });
  new Worker(mq, 'q', async (job: Job) => job.json<{ n: number }>().n, { concurrency: 2 });
  // @ts-expect-error: there is no such option
  await new Queue(mq, 'q').add(1, { atempts: 3 });
  return deduplicated ? id : '';
};
export default use;`;
  for (const kind of ['mts', 'cts'])
    writeFileSync(
      join(folder, `typed.${kind}`),
      `import { Client, Job, Queue, Worker, connect } from 'echomq';${typed}`,
    );
  const options = [
    '--noEmit',
    '--strict',
    '--module',
    'node16',
    '--target',
    'es2022',
    '--skipLibCheck',
    '--types',
    'node',
    '--typeRoots',
    types,
  ];
  run('node', [tsc, ...options, 'typed.mts', 'typed.cts'], folder);
});

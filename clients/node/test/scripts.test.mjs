// SPDX-License-Identifier: MIT
// The scripts are those of lua/, byte for byte, or nothing is built and nothing is loaded.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { readScripts } from '../tool/scripts.mjs';

const require = createRequire(import.meta.url);
const lua = fileURLToPath(new URL('../../../lua', import.meta.url));
const dist = fileURLToPath(new URL('../dist', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'emq-lua-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('each script of the manifest is there, with the shape of its header', () => {
  const { scripts, manifest, revision } = require('../dist/generated/scripts.js');
  assert.equal(manifest, readFileSync(join(lua, 'manifest.txt'), 'utf8'));
  assert.match(manifest, new RegExp(`^revision ${revision}\n`));
  for (const line of manifest.trimEnd().split('\n').slice(1)) {
    const [name, keys, args, itemKeys, moreKeys, itemArgs] = line.split(' ');
    const script = scripts[name];
    const counts = [script.keys, script.args, script.itemKeys, script.moreKeys, script.itemArgs].map(
      (words) => words.length,
    );
    assert.deepEqual(counts.map(String), [keys, args, itemKeys, moreKeys, itemArgs], name);
  }
});

test('a script that was changed is not built', () => {
  cpSync(lua, folder, { recursive: true });
  readScripts(folder);
  const claim = join(folder, 'job/claim.lua');
  writeFileSync(claim, readFileSync(claim, 'utf8').replace("'255'", "'254'"));
  assert.throws(() => readScripts(folder), /job\/claim has the SHA1 [0-9a-f]{40}, and lua\/manifest.txt says/);
});

test('a package that was damaged is not loaded', () => {
  const broken = join(folder, 'dist');
  cpSync(dist, broken, { recursive: true });
  const file = join(broken, 'generated/scripts.js');
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll("'255'", "'254'"));
  const env = { ...process.env, NODE_PATH: join(dist, '../node_modules') };
  const load = () => execFileSync('node', ['-e', `require(${JSON.stringify(broken)})`], { env, stdio: 'pipe' });
  assert.throws(load, /the script job\/claim of this package is not the one of its manifest/);
});

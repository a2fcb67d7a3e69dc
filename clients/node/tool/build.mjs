// SPDX-License-Identifier: MIT
// Makes dist/: the scripts of ../../lua as TypeScript, all of it compiled, and the door for `import`. There
// is one implementation, CommonJS, behind both doors: a program whose parts come in by one each still has
// one class of each name.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { generate } from './scripts.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const tree = join(root, '..', '..');
const require = createRequire(import.meta.url);
const dist = join(root, 'dist');

generate(join(tree, 'lua'), join(root, 'src', 'generated', 'scripts.ts'));
if (existsSync(join(tree, 'LICENSE'))) copyFileSync(join(tree, 'LICENSE'), join(root, 'LICENSE'));
rmSync(dist, { recursive: true, force: true });
execFileSync(process.execPath, [require.resolve('typescript/bin/tsc'), '--project', root], { stdio: 'inherit' });

const names = Object.keys(require(join(dist, 'index.js'))).sort();
writeFileSync(
  join(dist, 'index.mjs'),
  `import echomq from './index.js';\nexport const {\n${names.map((name) => `  ${name},\n`).join('')}} = echomq;\n`,
);
writeFileSync(join(dist, 'index.d.mts'), "export * from './index.js';\n");

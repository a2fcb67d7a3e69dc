// SPDX-License-Identifier: MIT
// The Lua scripts become TypeScript: src/generated/scripts.ts holds the text of each as it is sent, and a
// type for each header, so that a caller that forgets a key does not compile. The texts are put together
// as tool/contract does it for C++ (lua/README.md, "What is sent to the server"), and each has to have the
// SHA1 that lua/manifest.txt names: what differs by a byte would be another script on the server.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

const WIRE = 'echomq:2.0.0';
const TAGS = ['KEYS', 'ITEM KEYS', 'MORE KEYS', 'ARGV', 'ITEM ARGV', 'USES'];

const sha1 = (text) => createHash('sha1').update(text).digest('hex');

// The lines that carry code, without trailing blanks. There are neither block comments nor strings over
// several lines in these files (rule 8), so a line is a comment when it begins as one.
function codeLines(text) {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.trimStart().startsWith('--'))
    .map((line) => line.replace(/[ \t\r]+$/, '') + '\n')
    .join('');
}

// The words of each tag of a header. A line that continues a tag is indented more than one blank.
function readHeader(text) {
  const words = Object.fromEntries(TAGS.map((tag) => [tag, []]));
  let tag = '';
  for (const line of text.split('\n')) {
    if (!line.startsWith('--')) {
      if (line.trim() === '') continue;
      break;
    }
    const found = /^-- ([A-Z]+(?: [A-Z]+)?)\s{1,}(.*)$/.exec(line);
    if (found && !/^--\s{2,}/.test(line)) {
      tag = TAGS.includes(found[1]) ? found[1] : '';
      if (tag) words[tag].push(...found[2].trim().split(/\s+/));
    } else if (/^-- {2,}/.test(line) && tag) {
      words[tag].push(...line.slice(2).trim().split(/\s+/));
    } else {
      tag = '';
    }
  }
  return words;
}

export function readScripts(lua) {
  const manifest = readFileSync(join(lua, 'manifest.txt'), 'utf8');
  const [first, ...lines] = manifest.trimEnd().split('\n');
  const revision = Number(/^revision (\d+)$/.exec(first)?.[1]);
  if (!revision) throw new Error('lua/manifest.txt does not begin with its revision');
  const libs = new Map();
  for (const file of readdirSync(join(lua, 'lib')))
    libs.set(file.replace(/\.lua$/, ''), codeLines(readFileSync(join(lua, 'lib', file), 'utf8')));
  const scripts = lines.map((line) => {
    const words = line.split(' ');
    const [name, sha] = [words[0], words.at(-1)];
    const text = readFileSync(join(lua, `${name}.lua`), 'utf8');
    const header = readHeader(text);
    const source = [`-- ${name} of ${WIRE}\n`, ...header.USES.map((lib) => libs.get(lib)), codeLines(text)].join('');
    if (sha1(source) !== sha) throw new Error(`${name} has the SHA1 ${sha1(source)}, and lua/manifest.txt says ${sha}`);
    const counted = ['KEYS', 'ARGV', 'ITEM KEYS', 'MORE KEYS', 'ITEM ARGV'].map((tag) => header[tag].length);
    if (counted.join(' ') !== words.slice(1, 6).join(' '))
      throw new Error(`${name} has a header of ${counted.join(' ')}, and lua/manifest.txt says otherwise`);
    return { name, sha1: sha, header, source };
  });
  return { manifest, revision, scripts };
}

const union = (words) => (words.length === 0 ? 'never' : words.map((word) => `'${word}'`).join(' | '));

export function generate(lua, file) {
  const { manifest, revision, scripts } = readScripts(lua);
  const out = [
    '// SPDX-License-Identifier: MIT',
    '// Made of lua/ by tool/scripts.mjs; edit the scripts instead.',
    '',
    `export const wireVersion = '${WIRE}';`,
    `export const revision = ${revision};`,
    `export const manifest = ${JSON.stringify(manifest)};`,
    '',
    'export interface Calls {',
    ...scripts.map(
      ({ name, header }) =>
        `  '${name}': { keys: ${union(header.KEYS)}; args: ${union(header.ARGV)}; ` +
        `itemKeys: ${union(header['ITEM KEYS'])}; moreKeys: ${union(header['MORE KEYS'])}; ` +
        `itemArgs: ${union(header['ITEM ARGV'])} };`,
    ),
    '}',
    '',
    'export interface Script {',
    '  readonly sha1: string;',
    '  readonly keys: readonly string[];',
    '  readonly args: readonly string[];',
    '  readonly itemKeys: readonly string[];',
    '  readonly moreKeys: readonly string[];',
    '  readonly itemArgs: readonly string[];',
    '  readonly source: string;',
    '}',
    '',
    'export const scripts: { readonly [Name in keyof Calls]: Script } = {',
    ...scripts.map(
      ({ name, sha1, header, source }) =>
        `  '${name}': ${JSON.stringify({
          sha1,
          keys: header.KEYS,
          args: header.ARGV,
          itemKeys: header['ITEM KEYS'],
          moreKeys: header['MORE KEYS'],
          itemArgs: header['ITEM ARGV'],
          source,
        })},`,
    ),
    '};',
    '',
  ].join('\n');
  if (existsSync(file) && readFileSync(file, 'utf8') === out) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, out);
}

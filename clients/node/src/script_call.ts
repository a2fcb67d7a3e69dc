// SPDX-License-Identifier: MIT
// A script and a call of it. The types come from the headers in lua/ (tool/scripts.mjs), so that a caller
// that forgets a key or an argument does not compile; the call writes them in the order of the header.
import { createHash } from 'node:crypto';

import { EchoMQError } from './error.js';
import { Calls, Script, manifest, scripts } from './generated/scripts.js';

export type Arg = string | number | boolean | Buffer;
export type ScriptName = keyof Calls;
type Named<Names extends string, Value> = { readonly [Name in Names]: Value };

// The texts are those that the manifest names, or this package was damaged or put together of two releases.
for (const line of manifest.trimEnd().split('\n').slice(1)) {
  const words = line.split(' ');
  const script = scripts[words[0] as ScriptName] as Script | undefined;
  const sha1 = script && createHash('sha1').update(script.source).digest('hex');
  if (script === undefined || sha1 !== words[words.length - 1] || sha1 !== script.sha1)
    throw new EchoMQError('protocol', `the script ${words[0]} of this package is not the one of its manifest`, {
      value: words[0],
    });
}

function argument(value: Arg): string | Buffer {
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value !== 'number') return value;
  if (!Number.isSafeInteger(value)) throw new EchoMQError('protocol', `${value} is no whole number`, {});
  return String(value);
}

export class ScriptCall<Name extends ScriptName = ScriptName> {
  private readonly script: Script;
  private readonly keys: string[];
  private readonly args: Array<string | Buffer>;

  // `keys` may name more than the script has: all keys of a queue, say.
  constructor(name: Name, keys: Named<Calls[Name]['keys'], string>, args: Named<Calls[Name]['args'], Arg>) {
    this.script = scripts[name];
    this.keys = this.script.keys.map((word) => keys[word as keyof typeof keys]);
    this.args = this.script.args.map((word) => argument(args[word as keyof typeof args]));
  }

  itemKeys(keys: Named<Calls[Name]['itemKeys'], string>): this {
    for (const word of this.script.itemKeys) this.keys.push(keys[word as keyof typeof keys]);
    return this;
  }

  moreKeys(keys: Named<Calls[Name]['moreKeys'], string>): this {
    for (const word of this.script.moreKeys) this.keys.push(keys[word as keyof typeof keys]);
    return this;
  }

  itemArgs(args: Named<Calls[Name]['itemArgs'], Arg>): this {
    for (const word of this.script.itemArgs) this.args.push(argument(args[word as keyof typeof args]));
    return this;
  }

  // EVALSHA; by source EVAL, after the server answered NOSCRIPT.
  words(bySource: boolean): [command: string, args: Array<string | Buffer>] {
    const program = bySource ? this.script.source : this.script.sha1;
    return [bySource ? 'eval' : 'evalsha', [program, String(this.keys.length), ...this.keys, ...this.args]];
  }
}

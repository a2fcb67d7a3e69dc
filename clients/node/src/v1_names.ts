// SPDX-License-Identifier: MIT
// What v1 leaves of a queue, and where: what the look for it asks before a queue is opened (docs/protocol.md,
// section 4.2).
import { v1Key } from './keyspace.js';

// `meta` comes first: it names the version. After a migration it is a string.
const V1_SUFFIXES = ['meta', 'id', 'wait', 'active', 'paused', 'delayed', 'prioritized', 'completed', 'failed'];

export interface V1Look {
  key: string;
  words: readonly [command: string, ...rest: string[]];
}

// All of the look, in the order in which it is asked. A v1 queue is looked for by its plain name, and by that in
// braces, which v1 needs in a cluster; under the prefix emq the latter is that of our own keys.
export function v1Looks(prefixes: readonly string[], queue: string): V1Look[] {
  const names = (prefix: string): string[] => (prefix === 'emq' ? [queue] : [queue, `{${queue}}`]);
  return prefixes.flatMap((prefix) =>
    names(prefix).flatMap((name) => {
      const meta = v1Key(prefix, name, 'meta');
      const types = V1_SUFFIXES.map((suffix) => v1Key(prefix, name, suffix));
      return [
        { key: meta, words: ['hget', meta, 'version'] as const },
        ...types.map((key) => ({ key, words: ['type', key] as const })),
      ];
    }),
  );
}

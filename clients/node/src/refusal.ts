// SPDX-License-Identifier: MIT
// From an error on the wire to the public error: docs/protocol.md, section 4.7.
import { EchoMQError, ErrorCode } from './error.js';

// Words of the server that mean something to a user; everything else is quoted as server_error.
const MAPPINGS: ReadonlyArray<readonly [prefix: string, code: ErrorCode, advice: string]> = [
  ['EMQFULL', 'full', 'the server is at its maxmemory limit: adds are refused'],
  ['OOM', 'full', 'the server is at its maxmemory limit'],
  ['WRONGTYPE', 'wrong_type', 'a key of the queue holds a value of a foreign type'],
  ['NOPERM', 'denied', 'an ACL rule refused the command'],
  ['NOAUTH', 'denied', 'the server wants a login'],
  ['LOADING', 'loading', 'the server is loading its data'],
  ['EMQARG', 'protocol', 'the script refused its arguments'],
];

// The server did not run the command and will soon: asking again is harmless.
const NOT_READY = ['LOADING ', 'CLUSTERDOWN ', 'MASTERDOWN ', 'TRYAGAIN '];

export function isNotReady(text: string): boolean {
  return NOT_READY.some((word) => text.startsWith(word));
}

export function fenceRefusal(queue: string, found: string, expected: string, probe: string): EchoMQError {
  return new EchoMQError(
    'fence',
    `queue "${queue}" belongs to another wire: found ${found} at ${probe}, expected ${expected}; nothing was changed`,
    { queue, found, expected, probe },
  );
}

// A fence error that says that there is no such queue: never opened, flushed or obliterated.
export function isAbsent(error: EchoMQError): boolean {
  return error.code === 'fence' && error.fields.found === 'nothing';
}

// `text` is the error line without its leading '-'. `queue` and `probe` name what was touched.
export function refusal(text: string, queue: string, probe: string): EchoMQError {
  const fence = 'EMQFENCE expected=';
  if (text.startsWith(fence)) {
    const at = text.indexOf(' found=');
    const expected = text.slice(fence.length, at < 0 ? undefined : at);
    return fenceRefusal(queue, at < 0 ? '' : text.slice(at + ' found='.length), expected, probe);
  }
  for (const [prefix, code, advice] of MAPPINGS)
    if (text.startsWith(prefix)) return new EchoMQError(code, `${advice} (${text})`, { queue, found: text });
  const code = isNotReady(text) ? 'loading' : 'server_error';
  return new EchoMQError(code, `the server answered: ${text}`, { queue, found: text });
}

// SPDX-License-Identifier: MIT
// Errors: one class with a code, a sentence for people and named values for programs. The codes are those
// of the C++ library (include/echomq/result.h), and say what happened to the data: unless the comment says
// otherwise, nothing was written.

export type ErrorCode =
  // The caller's input. Raised before a byte is sent.
  | 'invalid_argument' // an option outside its range, or options that exclude each other
  | 'invalid_url' // a server address that cannot be read
  | 'invalid_name' // a queue name or job id outside the grammar of docs/protocol.md, section 3
  | 'too_large' // data, result or argument over its limit
  | 'encoding' // text that must be UTF-8 and is not
  | 'unsupported' // understood, and not offered by this client
  | 'decode' // data or a result that is not JSON
  // The server or the way to it.
  | 'config' // the server's settings would lose jobs (an evicting maxmemory-policy)
  | 'unavailable' // nobody answers there; the command was never sent
  | 'timeout' // the deadline passed while the command was in flight: outcome unknown
  | 'connection_lost' // the connection died while the command was in flight: outcome unknown
  | 'loading' // the server is still loading its data set
  | 'server_too_old' // the server lacks a command that the protocol needs
  | 'server_error' // the server answered with an error of its own (the message quotes it)
  | 'denied' // authentication failed or an ACL rule refused a command
  | 'full' // the server is at maxmemory: adds are refused, everything else goes on
  | 'closed' // the client was closed before the operation was sent
  | 'backpressure' // bufferLimit is reached: nothing was sent, try again later
  | 'queue_full' // the queue holds as many waiting jobs as it may: not added, try again later
  // The protocol.
  | 'fence' // the keyspace belongs to another wire or version; fields queue, found, expected, probe
  | 'nodes_exhausted' // all 1,024 node ids are held by live processes
  | 'wrong_type' // a key of the queue holds a value of a foreign type
  | 'protocol' // an answer that this version does not understand
  // One job.
  | 'duplicate' // a job with that custom id exists already; it was left as it is
  | 'collision' // a freshly minted id exists already: two processes share a node id
  | 'not_found' // no such job or queue
  | 'stale' // the lease is no longer this worker's: another run owns the job
  | 'wrong_state'; // the job is not in a state that allows the operation

export class EchoMQError extends Error {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly fields: Readonly<Record<string, string>>;

  // The message is "<code>: <detail>".
  constructor(code: ErrorCode, detail: string, fields: Record<string, string> = {}) {
    super(`${code}: ${detail}`);
    this.name = 'EchoMQError';
    this.code = code;
    this.detail = detail;
    this.fields = fields;
  }

  // Whether the operation may or may not have happened: its command was sent, the answer never came.
  get unknownOutcome(): boolean {
    return this.code === 'timeout' || this.code === 'connection_lost';
  }
}

// Errors of the connection, which waiting mends.
export function isWeather(error: EchoMQError): boolean {
  return ['unavailable', 'timeout', 'connection_lost', 'loading'].includes(error.code);
}

// A value in quotes for a sentence, cut where it is long, with what does not print as \xNN.
export function quoted(value: string): string {
  const shown = value.length > 80 ? `${value.slice(0, 80)}...` : value;
  return `"${shown.replace(/[\x00-\x1f\x7f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)}"`;
}

export function invalidName(
  what: string,
  value: string,
  problem: string,
  more: Record<string, string> = {},
): EchoMQError {
  return new EchoMQError('invalid_name', `${what} ${quoted(value)} ${problem}`, { value, ...more });
}

export function badOption(option: string, value: string, expected: string): EchoMQError {
  return new EchoMQError('invalid_argument', `${option} is ${value}; expected ${expected}`, {
    option,
    value,
    expected,
  });
}

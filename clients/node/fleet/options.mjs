// SPDX-License-Identifier: MIT
// The options of a job in the language of the fleet, which are those of test/vectors too: the names of C++.
const CAMEL = {
  keep_completed: 'keepCompleted',
  keep_failed: 'keepFailed',
  expires_in: 'expiresIn',
  keep_last: 'keepLast',
};
const SNAKE = Object.fromEntries(Object.entries(CAMEL).map(([snake, camel]) => [camel, snake]));

function renamed(options, names) {
  const out = {};
  for (const [name, value] of Object.entries(options))
    out[names[name] ?? name] = name === 'deduplication' ? renamed(value, names) : value;
  return out;
}

export const optionsOf = (given) => renamed(given, CAMEL);
export const jsonOfOptions = (options) => renamed(options, SNAKE);

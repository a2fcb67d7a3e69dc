// SPDX-License-Identifier: MIT
// Answers of the server: bytes as buffers, and what scripts make of them.

export type Reply = number | Buffer | null | Reply[];

export const textOf = (reply: Reply | undefined): string =>
  Buffer.isBuffer(reply) ? reply.toString() : typeof reply === 'number' ? String(reply) : '';
export const itemsOf = (reply: Reply | undefined): Reply[] => (Array.isArray(reply) ? reply : []);
// An integer, or digits in a string: scores of sorted sets are whole numbers here.
export const numberOf = (reply: Reply | undefined): number =>
  typeof reply === 'number' ? reply : Math.trunc(Number(textOf(reply))) || 0;
export const textsOf = (reply: Reply | undefined): string[] => itemsOf(reply).map(textOf);
export const buffersOf = (reply: Reply | undefined): Buffer[] =>
  itemsOf(reply).map((item) => (Buffer.isBuffer(item) ? item : Buffer.from(textOf(item))));

// Ids that a script joined by blanks, which no id has.
export const idsOf = (reply: Reply | undefined): string[] => textOf(reply).split(' ').filter(Boolean);

// The status of the i-th item of a batch: one word stands for all items.
export function statusOf(statuses: Reply | undefined, i: number, otherwise = 'unknown'): string {
  const text = Array.isArray(statuses) ? textOf(statuses[i]) : textOf(statuses);
  return text === '' ? otherwise : text;
}

// Members and scores in turn, as WITHSCORES answers.
export function scoredOf(reply: Reply | undefined): Array<{ member: string; score: number }> {
  const items = itemsOf(reply);
  const all = [];
  for (let i = 0; i + 1 < items.length; i += 2) all.push({ member: textOf(items[i]), score: numberOf(items[i + 1]) });
  return all;
}

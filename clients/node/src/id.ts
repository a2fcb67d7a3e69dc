// SPDX-License-Identifier: MIT
// Job ids: what they are made of, and the form that people see.
//
// A minted id is a Snowflake below 2^63: milliseconds since 2024 (41 bits), node (10), sequence (12).
// Everywhere an id is its canonical decimal string and never a number, which JavaScript would round beyond
// 2^53. At the edge it may be shown branded: "BAT" and 11 digits of base 62,
// 274557032793636864 <-> BAT0KHTOWnGLuC.
//
// All errors are invalid_name with the field "value".
import { invalidName } from './error.js';

// 2024-01-01T00:00:00Z in milliseconds since 1970: where the clock of minted ids starts.
export const ID_EPOCH_MS = 1_704_067_200_000;
const ID_BRAND = 'BAT';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const MAX_ID = (1n << 63n) - 1n;
const LOOKS_BRANDED = /^[A-Z]{3}[0-9A-Za-z]{11}$/;

export interface IdParts {
  msSince2024: bigint;
  unixMs: bigint; // the same moment, since 1970
  node: number; // 0..1023
  seq: number; // 0..4095
}

// A number would have been rounded before it came here, so it is refused and not converted.
function textOf(id: unknown): string {
  if (typeof id === 'string') return id;
  throw invalidName('id', String(id), `is a ${typeof id}; ids are decimal strings, since numbers round them`);
}

function parseDecimal(text: string): bigint | undefined {
  if (!/^(0|[1-9][0-9]{0,18})$/.test(text)) return undefined;
  const number = BigInt(text);
  return number <= MAX_ID ? number : undefined;
}

function numberOfBranded(branded: string): bigint {
  if (!LOOKS_BRANDED.test(branded))
    throw invalidName('branded id', branded, 'is not BAT and 11 digits of base 62 (0-9 A-Z a-z), as in BAT0KHTOWnGLuC');
  const brand = branded.slice(0, ID_BRAND.length);
  if (brand !== ID_BRAND)
    throw invalidName(
      'branded id',
      branded,
      `is of the namespace ${brand}; a job id is of the namespace BAT. Give the id of a job`,
      { brand, expected: ID_BRAND },
    );
  let number = 0n;
  for (const digit of branded.slice(ID_BRAND.length)) number = number * 62n + BigInt(DIGITS.indexOf(digit));
  if (number > MAX_ID)
    throw invalidName('branded id', branded, 'stands for a number of 2^63 or more; the greatest id is BATAzL8n0Y58m7');
  return number;
}

// "274557032793636864" -> "BAT0KHTOWnGLuC"
export function brandId(decimal: string): string {
  const number = parseDecimal(textOf(decimal));
  if (number === undefined)
    throw invalidName(
      'id',
      decimal,
      'is not the decimal form of a number below 2^63 without leading zeros, as in 274557032793636864',
    );
  let digits = '';
  for (let left = number; left > 0n; left /= 62n) digits = DIGITS[Number(left % 62n)] + digits;
  return ID_BRAND + digits.padStart(11, '0');
}

// "BAT0KHTOWnGLuC" -> "274557032793636864"
export function unbrandId(branded: string): string {
  return numberOfBranded(textOf(branded)).toString();
}

// The parts of an id in either form.
export function decodeId(decimalOrBranded: string): IdParts {
  const text = textOf(decimalOrBranded);
  let number = parseDecimal(text);
  if (number === undefined) {
    if (/^[0-9]*$/.test(text) || !LOOKS_BRANDED.test(text))
      throw invalidName('id', text, 'is neither decimal (274557032793636864) nor branded (BAT0KHTOWnGLuC)');
    number = numberOfBranded(text);
  }
  const msSince2024 = number >> 22n;
  return {
    msSince2024,
    unixMs: msSince2024 + BigInt(ID_EPOCH_MS),
    node: Number((number >> 12n) & 1023n),
    seq: Number(number & 4095n),
  };
}

// Whether it looks like a minted id: the canonical decimal form of a number below 2^63.
export function isMintedId(id: string): boolean {
  return parseDecimal(id) !== undefined;
}

// "BAT" and 11 base 62 digits, whatever number they make. No custom id may look like this.
export function isBrandedId(id: string): boolean {
  return LOOKS_BRANDED.test(id) && id.startsWith(ID_BRAND);
}

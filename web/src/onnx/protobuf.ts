// Reads protocol buffers. Every length is checked against that of its message.
import { PeruseError } from '../errors.js';

/** Wire types. ONNX does not use groups (3, 4), which count as malformed. */
export const kVarint = 0;
export const kEightBytes = 1;
export const kBytes = 2;
export const kFourBytes = 5;

export interface Field {
  number: number;
  type: number;
  /** Value of a varint, exact up to 2^53; two's complement for negative numbers. */
  value: number;
  bytes: Uint8Array;
}

const kNoBytes = new Uint8Array(0);
const kLongestVarint = 10;

export function malformed(what: string): PeruseError {
  return new PeruseError('malformed_file', `ONNX: ${what}.`);
}

export class Varint {
  private bits_ = 0n;
  private count_ = 0;

  push(byte: number): boolean {
    if (this.count_ === kLongestVarint) throw malformed('a number has more than ten bytes');
    this.bits_ |= BigInt(byte & 127) << BigInt(7 * this.count_++);
    return byte < 128;
  }

  get value(): number {
    return Number(BigInt.asIntN(64, this.bits_));
  }
}

export function splitKey(key: number): { number: number; type: number } {
  const number = Math.floor(key / 8);
  const type = key % 8;
  if (key < 8 || number >= 2 ** 29 || ![kVarint, kEightBytes, kBytes, kFourBytes].includes(type)) {
    throw malformed(`a field has the impossible key ${key}`);
  }
  return { number, type };
}

export function* varints(bytes: Uint8Array): Generator<number> {
  for (let at = 0; at < bytes.length; ) {
    const [value, next] = readVarint(bytes, at);
    at = next;
    yield value;
  }
}

function readVarint(bytes: Uint8Array, at: number): [value: number, next: number] {
  const first = bytes[at];
  if (first !== undefined && first < 128) return [first, at + 1];
  const varint = new Varint();
  for (;;) {
    const byte = bytes[at++];
    if (byte === undefined) throw malformed('a number ends beyond its message');
    if (varint.push(byte)) return [varint.value, at];
  }
}

export function* fields(message: Uint8Array): Generator<Field> {
  for (let at = 0; at < message.length; ) {
    const [key, afterKey] = readVarint(message, at);
    const { number, type } = splitKey(key);
    if (type === kVarint) {
      const [value, next] = readVarint(message, afterKey);
      at = next;
      yield { number, type, value, bytes: kNoBytes };
      continue;
    }
    const [length, start] = type === kBytes ? readVarint(message, afterKey) : [type === kEightBytes ? 8 : 4, afterKey];
    if (length < 0 || length > message.length - start) throw malformed('a field is longer than its message');
    at = start + length;
    yield { number, type, value: 0, bytes: message.subarray(start, at) };
  }
}

/** At most `most` numbers of a repeated field, packed or single. */
export function numbersOf(field: Field, most = Number.POSITIVE_INFINITY): number[] {
  if (field.type === kVarint) return [field.value];
  const numbers: number[] = [];
  for (const number of varints(field.bytes)) {
    if (numbers.push(number) >= most) break;
  }
  return numbers;
}

const kUtf8 = new TextDecoder();
const kLongestText = 4096;

export function textOf({ bytes }: Field, what: string): string {
  if (bytes.length > kLongestText) throw malformed(`${what} of ${bytes.length} bytes is longer than ${kLongestText}`);
  return kUtf8.decode(bytes);
}

// Makes an animated PNG of PNG files of equal size: with 256 colours, and only the part of each picture that differs from the previous one.
import { crc32, deflateSync } from 'node:zlib';
import { PNG } from 'pngjs';

const kColours = 256;
const kSignature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

function numbers(...values) {
  const buffer = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) buffer.writeUInt32BE(value, 4 * index);
  return buffer;
}

/** Returns the pixels of a PNG file as numbers 0xRRGGBB. */
function decode(file) {
  const { width, height, data } = PNG.sync.read(file);
  const pixels = Uint32Array.from({ length: width * height }, (_, at) => data.readUIntBE(4 * at, 3));
  return { width, height, pixels };
}

/** The most frequent colours, and for each colour of the pictures the index of the nearest of them. */
function palette(pictures) {
  const counts = new Map();
  for (const { pixels } of pictures) for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const all = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
  const colours = all.slice(0, kColours);
  const parts = (colour) => [colour >> 16, (colour >> 8) & 255, colour & 255];
  const chosen = colours.map(parts);
  const nearest = (colour) => {
    const [r, g, b] = parts(colour);
    const distances = chosen.map((one) => (one[0] - r) ** 2 + (one[1] - g) ** 2 + (one[2] - b) ** 2);
    return distances.indexOf(Math.min(...distances));
  };
  return { bytes: Buffer.from(chosen.flat()), indices: new Map(all.map((colour) => [colour, nearest(colour)])) };
}

function difference(before, after, width) {
  let [left, top, right, bottom] = [Infinity, Infinity, 0, 0];
  for (let at = 0; at < after.length; at++) {
    if (before[at] === after[at]) continue;
    const [x, y] = [at % width, Math.floor(at / width)];
    [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
  }
  return left > right ? { left: 0, top: 0, width: 1, height: 1 } : { left, top, width: right - left + 1, height: bottom - top + 1 };
}

function encode(indices, { left, top, width, height }, stride) {
  const rows = Array.from({ length: height }, (_, y) => {
    const from = (top + y) * stride + left;
    return Buffer.concat([Buffer.from([0]), indices.subarray(from, from + width)]);
  });
  return deflateSync(Buffer.concat(rows), { level: 9 });
}

/** `milliseconds`: the time of all pictures, or a list with the time of each. `still`: the number of the picture for viewers that show only one. */
export function animation(files, milliseconds, still = 0) {
  const timeOf = (index) => (Array.isArray(milliseconds) ? milliseconds[index] : milliseconds);
  const pictures = files.map(decode);
  const [{ width, height }] = pictures;
  const { bytes, indices } = palette(pictures);
  const frames = pictures.map(({ pixels }) => Uint8Array.from(pixels, (colour) => indices.get(colour)));
  const header = Buffer.concat([numbers(width, height), Buffer.from([8, 3, 0, 0, 0])]); // 8 bits, with a palette
  const parts = [kSignature, chunk('IHDR', header), chunk('acTL', numbers(frames.length, 0)), chunk('PLTE', bytes)];
  const whole = { left: 0, top: 0, width, height };
  if (still > 0) parts.push(chunk('IDAT', encode(frames[still], whole, width))); // without fcTL, it is no part of the animation
  let sequence = 0;
  for (const [index, frame] of frames.entries()) {
    const part = index === 0 ? whole : difference(frames[index - 1], frame, width);
    const time = Buffer.alloc(6); // the delay as a fraction, then: leave the picture, and overwrite it
    time.writeUInt16BE(timeOf(index));
    time.writeUInt16BE(1000, 2);
    parts.push(chunk('fcTL', Buffer.concat([numbers(sequence++, part.width, part.height, part.left, part.top), time])));
    const data = encode(frame, part, width);
    parts.push(index === 0 && still === 0 ? chunk('IDAT', data) : chunk('fdAT', Buffer.concat([numbers(sequence++), data])));
  }
  return Buffer.concat([...parts, chunk('IEND', Buffer.alloc(0))]);
}

// Makes an animated PNG of PNG files of equal size: with 256 colours, and only the part of each picture that differs from the previous one.
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const kColours = 256;

function* chunksOf(png) {
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    yield { type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) };
    at += 12 + length;
  }
}

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

/** The predictor of PNG's filter 4, from the bytes to the left, above, and above to the left. */
function paeth(a, b, c) {
  const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/** The pixels of a PNG file with 8 bits for each of red, green and blue (and opacity, which is dropped), as numbers 0xRRGGBB. */
function decode(png) {
  const chunks = [...chunksOf(png)];
  const header = chunks.find(({ type }) => type === 'IHDR').data;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const step = { 2: 3, 6: 4 }[header[9]];
  if (step === undefined || header[8] !== 8 || header[12] !== 0) throw new Error('only 8-bit RGB pictures without interlacing are read');
  const bytes = inflateSync(Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)));
  const stride = width * step;
  const pixels = new Uint32Array(width * height);
  let above = new Uint8Array(stride);
  for (let y = 0; y < height; y++) {
    const filter = bytes[y * (stride + 1)];
    const row = new Uint8Array(bytes.subarray(y * (stride + 1) + 1, (y + 1) * (stride + 1)));
    for (let x = 0; x < stride; x++) {
      const left = x < step ? 0 : row[x - step];
      const corner = x < step ? 0 : above[x - step];
      row[x] += [0, left, above[x], (left + above[x]) >> 1, paeth(left, above[x], corner)][filter];
    }
    for (let x = 0; x < width; x++) pixels[y * width + x] = (row[x * step] << 16) | (row[x * step + 1] << 8) | row[x * step + 2];
    above = row;
  }
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

export function animation(files, milliseconds) {
  const pictures = files.map(decode);
  const [{ width, height }] = pictures;
  const { bytes, indices } = palette(pictures);
  const frames = pictures.map(({ pixels }) => Uint8Array.from(pixels, (colour) => indices.get(colour)));
  const header = Buffer.concat([numbers(width, height), Buffer.from([8, 3, 0, 0, 0])]); // 8 bits, with a palette
  const parts = [files[0].subarray(0, 8), chunk('IHDR', header), chunk('acTL', numbers(frames.length, 0)), chunk('PLTE', bytes)];
  let sequence = 0;
  for (const [index, frame] of frames.entries()) {
    const part = index === 0 ? { left: 0, top: 0, width, height } : difference(frames[index - 1], frame, width);
    const time = Buffer.alloc(6); // the delay as a fraction, then: leave the picture, and overwrite it
    time.writeUInt16BE(milliseconds);
    time.writeUInt16BE(1000, 2);
    parts.push(chunk('fcTL', Buffer.concat([numbers(sequence++, part.width, part.height, part.left, part.top), time])));
    const data = encode(frame, part, width);
    parts.push(index === 0 ? chunk('IDAT', data) : chunk('fdAT', Buffer.concat([numbers(sequence++), data])));
  }
  return Buffer.concat([...parts, chunk('IEND', Buffer.alloc(0))]);
}

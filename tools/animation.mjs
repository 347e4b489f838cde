// Makes an animated PNG of PNG files of equal size.
import { crc32 } from 'node:zlib';

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

/** Shows each picture for `milliseconds`, and repeats. */
export function animation(pictures, milliseconds) {
  const [first] = pictures;
  const header = [...chunksOf(first)].find(({ type }) => type === 'IHDR').data;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const parts = [first.subarray(0, 8), chunk('IHDR', header), chunk('acTL', numbers(pictures.length, 0))];
  let sequence = 0;
  for (const [index, picture] of pictures.entries()) {
    const time = Buffer.alloc(6); // Delay as a fraction, then how the picture is put down: as it is.
    time.writeUInt16BE(milliseconds);
    time.writeUInt16BE(1000, 2);
    parts.push(chunk('fcTL', Buffer.concat([numbers(sequence++, width, height, 0, 0), time])));
    for (const { type, data } of chunksOf(picture)) {
      if (type === 'IDAT') parts.push(index === 0 ? chunk('IDAT', data) : chunk('fdAT', Buffer.concat([numbers(sequence++), data])));
    }
  }
  return Buffer.concat([...parts, chunk('IEND', Buffer.alloc(0))]);
}

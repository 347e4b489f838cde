const kNumbers = [0, 1, -1, 2, 255, 256, 65536, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 31), 0.5, 1e308, 1e-308];
const kValues = [null, true, false, '', 'x', '\ud800', '\u0000', [], {}, [[]], [null], { a: 1 }, 'a'.repeat(10_000), ...kNumbers];

/** A copy of one of kValues, because later changes could insert it into itself. */
const drawValue = (random) => structuredClone(random.pick(kValues));

/** A broken copy. JSON is mostly changed by structure, which reaches further. */
export function mutate(name, bytes, random) {
  if (/json$/.test(name) && random.chance(0.7)) return mutateJson(bytes, random);
  if (/safetensors$/.test(name) && random.chance(0.5)) return mutateHeader(bytes, random);
  if (/onnx$/.test(name) && random.chance(0.8)) return mutateMessage(bytes, random);
  return mutateBytes(bytes, random);
}

export function mutateBytes(bytes, random) {
  let copy = Buffer.from(bytes);
  for (let times = 1 + random.below(4); times > 0 && copy.length > 0; --times) {
    const at = random.below(copy.length);
    const length = 1 + random.below(Math.min(64, copy.length - at));
    switch (random.below(7)) {
      case 0:
        copy[at] ^= 1 << random.below(8);
        break;
      case 1:
        for (let i = 0; i < length; ++i) copy[at + i] = random.below(256);
        break;
      case 2:
        copy = copy.subarray(0, at);
        break;
      case 3:
        copy = Buffer.concat([copy.subarray(0, at), copy.subarray(at + length)]);
        break;
      case 4:
        copy = Buffer.concat([copy.subarray(0, at), copy.subarray(at, at + length), copy.subarray(at)]);
        break;
      case 5:
        copy.fill(random.pick([0, 0xff, 0x7f, 0x80, 0x22, 0x7b]), at, at + length);
        break;
      default:
        copy = Buffer.concat([copy, copy.subarray(at, at + length)]);
    }
  }
  return new Uint8Array(copy);
}

function mutateJson(bytes, random) {
  let value;
  try {
    value = JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return mutateBytes(bytes, random);
  }
  for (let times = 1 + random.below(3); times > 0; --times) value = changeSomewhere(value, random);
  return new TextEncoder().encode(JSON.stringify(value) ?? '');
}

function changeSomewhere(value, random) {
  const isInner = typeof value === 'object' && value !== null;
  const keys = isInner ? Object.keys(value) : [];
  if (keys.length === 0 || random.chance(0.08)) return drawValue(random);
  const key = random.pick(keys);
  switch (random.below(12)) {
    case 0:
      delete value[key];
      break;
    case 1:
      value[random.pick(['x', '', key + key])] = structuredClone(value[key]);
      break;
    case 2:
      value[key] = structuredClone(value[random.pick(keys)]);
      break;
    case 3:
      if (Array.isArray(value)) value.push(structuredClone(value[key]));
      else value[key] = [value[key]];
      break;
    case 4:
      value[key] = typeof value[key] === 'number' ? random.pick(kNumbers) : drawValue(random);
      break;
    default:
      value[key] = changeSomewhere(value[key], random);
  }
  return value;
}

/** Changes a field inside a message, and adapts the lengths around it. */
function mutateMessage(bytes, random) {
  const fields = splitMessage(bytes);
  if (fields.length === 0 || random.chance(0.05)) return mutateBytes(bytes, random);
  // Large fields are the graph and its tensors; the others describe the file.
  const at = random.chance(0.5)
    ? fields.indexOf(fields.reduce((a, b) => (b.content.length > a.content.length ? b : a)))
    : random.below(fields.length);
  const field = fields[at];
  const inner = field.type === 2 && random.chance(0.75);
  switch (inner ? 9 : random.below(7)) {
    case 0:
      fields.splice(at, 1);
      break;
    case 1:
      fields.splice(at, 0, field);
      break;
    case 2:
      fields.splice(random.below(fields.length), 1, field);
      break;
    case 3:
      field.number = random.pick([1, 2, 3, 4, 5, 7, 8, 9, 13, 14, 15, 20, 25, 2 ** 28]);
      break;
    case 4:
      if (field.type === 0) field.content = writeVarint(random.pick([0, 1, 2, 3, 11, 16, 22, 255, 2 ** 31, 2 ** 53, 2 ** 63]));
      else field.content = mutateBytes(field.content, random);
      break;
    case 5:
      field.said = random.pick([0, 1, field.content.length + 1, 2 ** 31, 2 ** 62]);
      break;
    case 6:
      field.content = new Uint8Array(random.pick([0, 1, 100, 100_000])).fill(random.below(256));
      break;
    default:
      field.content = mutateMessage(field.content, random);
  }
  return joinMessage(fields);
}

/** Returns the fields of a protobuf message: number, type and content. Returns none for other bytes. */
export function splitMessage(bytes) {
  const fields = [];
  for (let at = 0; at < bytes.length; ) {
    const [key, start] = readVarint(bytes, at);
    const type = key % 8;
    const field = { number: Math.floor(key / 8), type };
    if (type === 0) at = readVarint(bytes, start)[1];
    else if (type === 1) at = start + 8;
    else if (type === 5) at = start + 4;
    else if (type === 2) {
      const [length, first] = readVarint(bytes, start);
      at = first + length;
      field.content = bytes.subarray(first, at);
    } else return [];
    field.content ??= bytes.subarray(start, at);
    if (!(at <= bytes.length)) return [];
    fields.push(field);
  }
  return fields;
}

function readVarint(bytes, at) {
  let value = 0;
  for (let shift = 0; ; ++shift) {
    const byte = bytes[at++];
    if (byte === undefined || shift > 9) return [0, Number.NaN];
    value += (byte & 127) * 128 ** shift;
    if (byte < 128) return [value, at];
  }
}

function writeVarint(value) {
  const bytes = [];
  let left = BigInt(value);
  for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128);
  return Uint8Array.from([...bytes, Number(left)]);
}

/** The message that splitMessage() split; `said` replaces the length of a field. */
export const joinMessage = (fields) => new Uint8Array(Buffer.concat(fields.flatMap(writeField)));

const writeField = ({ number, type, content, said }) => [
  writeVarint(number * 8 + type),
  ...(type === 2 ? [writeVarint(said ?? content.length)] : []),
  content,
];

function mutateHeader(bytes, random) {
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  const header = mutateJson(bytes.subarray(8, 8 + length), random);
  const file = new Uint8Array(8 + header.length + bytes.length - 8 - length);
  const said = random.chance(0.9) ? header.length : random.pick([0, 1, header.length + 1, 2 ** 31, 2 ** 52]);
  new DataView(file.buffer).setBigUint64(0, BigInt(said), true);
  file.set(header, 8);
  file.set(bytes.subarray(8 + length), 8 + header.length);
  return file;
}

// Files that somebody broke: by bits, by bytes, by structure.

const kNumbers = [0, 1, -1, 2, 255, 256, 65536, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 31), 0.5, 1e308, 1e-308];
const kValues = [null, true, false, '', 'x', '\ud800', '\u0000', [], {}, [[]], [null], { a: 1 }, 'a'.repeat(10_000), ...kNumbers];

/** One of kValues, to keep: what is put into a file may be changed there, and may end up inside itself. */
const drawValue = (random) => structuredClone(random.pick(kValues));

/** A broken copy: of JSON often by structure, which reaches further than broken bytes. */
export function mutate(name, bytes, random) {
  if (/json$/.test(name) && random.chance(0.7)) return mutateJson(bytes, random);
  if (/safetensors$/.test(name) && random.chance(0.5)) return mutateHeader(bytes, random);
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

/** Walks down to a random place and changes it. */
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

/** A safetensors file whose header lies. */
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

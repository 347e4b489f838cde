import type { IntegerParameters, OnnxRequest } from '../sources/onnx_part.js';
import { encodeHeader, type TensorEntry } from '../sources/weights/safetensors.js';
import type { Claim, Claims } from './claim.js';
import { bytesOf, isFloat, kTypes, sizeOf, type Tensor } from './tensor.js';
import { type StoredType, shapeOf } from './values.js';

export interface Output {
  name: string;
  claim: Claim;
  dtype: StoredType;
  members: Tensor[];
}

export interface Layout {
  /** In the order of their bytes: in memory, in the file, in external files. */
  outputs: Output[];
  header: Uint8Array;
  bodyBytes: number;
}

/** Tensors with more bytes than this and two names are written once. */
const kSharedBytes = 1 << 12;
const kElementBytes = { F32: 4, F16: 2, BF16: 2, I8: 1, U8: 1 } as const;
/** The engine's groups of 4 bits, which MatMulNBits can have, too. */
const kGroup = 32;

export function layOut(claims: Claims, encoded: OnnxRequest['encoded']): Layout {
  const parameters = [...claims.parameters];
  const integers = encoded?.(
    [
      ...[...claims.zeros].map(([name, shape]) => ({ name, dtype: 'F32', shape })),
      ...parameters.map(([name, claim]) => ({ name, dtype: 'F32', shape: shapeOf(claim) })),
    ],
    claims.changes,
  );
  const all = parameters.map(([name, claim]) => outputOf(name, claim, integers?.get(name)));
  const shared = sharedNames(all);
  const outputs = all.filter(({ name }) => !Object.hasOwn(shared, name)).sort(compareOutputs);
  const entries = entriesOf(claims.zeros, outputs);
  return { outputs, header: encodeHeader(entries, { format: 'pt', ...shared }), bodyBytes: entries.at(-1)?.end ?? 0 };
}

/** Location of a parameter's last bytes; undefined if all are in memory. */
export function lastPlace({ members }: Output): Tensor['place'] {
  const places = members.flatMap(({ place }) => (place ? [place] : []));
  return places.reduce<Tensor['place']>((last, place) => (last && place.offset < last.offset ? last : place), undefined);
}

function outputOf(name: string, claim: Claim, kept: ReturnType<IntegerParameters['get']>): Output {
  const { coding, tensor } = claim;
  const sides = coding.kind === 'floats' ? [] : [coding.scale, ...('zero' in coding && coding.zero ? [coding.zero] : [])];
  const members = [tensor, ...sides];
  if (kept !== undefined && scalesFitRows(claim)) return { name, claim, dtype: 'I8', members };
  if (kept === 'rows' && isPacked(claim)) return { name, claim, dtype: 'U8', members };
  return { name, claim, dtype: coding.kind === 'floats' ? floatType(tensor) : 'F32', members };
}

/** Whether the parameter is stored as the engine's 4 bits. */
function isPacked({ coding, tensor, transposed, columns }: Claim): boolean {
  if (coding.kind !== 'blocks' || coding.zero || transposed || columns) return false;
  const { scale, bits, block, missingZero } = coding;
  const hasScales = scale.type === kTypes.F32 || scale.type === kTypes.F16;
  return hasScales && bits === 4 && block === kGroup && missingZero === 8 && tensor.type === kTypes.U8 && tensor.dims.length === 3;
}

function scalesFitRows({ coding, shape, transposed }: Claim): boolean {
  if (coding.kind !== 'integers') return false;
  const rowAxis = transposed ? shape.length - 1 : 0;
  const fits = (one: Tensor | undefined) => one === undefined || sizeOf(one) === 1 || coding.axis === rowAxis;
  return shape.length === 2 && fits(coding.scale) && fits(coding.zero);
}

function floatType(tensor: Tensor): 'F32' | 'F16' | 'BF16' {
  if (!isFloat(tensor) || tensor.type === kTypes.F32) return 'F32';
  return tensor.type === kTypes.F16 ? 'F16' : 'BF16';
}

function sharedNames(outputs: readonly Output[]): Record<string, string> {
  const first = new Map<string, string>();
  const numbers = new Map<Tensor, number>();
  const shared: Record<string, string> = {};
  for (const { name, claim, dtype } of outputs) {
    if (bytesOf(claim.tensor) < kSharedBytes) continue;
    const number = numbers.get(claim.tensor) ?? numbers.size;
    numbers.set(claim.tensor, number);
    const key = JSON.stringify([number, dtype, claim.transposed, claim.columns, claim.byHeads]);
    const other = first.get(key);
    if (other === undefined) first.set(key, name);
    else {
      shared[name] = other;
      if (dtype === 'I8' || dtype === 'U8') shared[`${name}_scale`] = `${other}_scale`;
    }
  }
  return shared;
}

function compareOutputs(a: Output, b: Output): number {
  const [first, second] = [lastPlace(a), lastPlace(b)];
  if (!first || !second) return first ? 1 : second ? -1 : 0;
  const [fileA, fileB] = [first.file ?? '', second.file ?? ''];
  return fileA === fileB ? first.offset - second.offset : fileA < fileB ? -1 : 1;
}

function entriesOf(zeros: Claims['zeros'], outputs: readonly Output[]): TensorEntry[] {
  const entries: TensorEntry[] = [];
  let at = 0;
  const add = (name: string, dtype: string, shape: number[], elementBytes: number) => {
    const end = at + shape.reduce((product, size) => product * size, elementBytes);
    entries.push({ name, dtype, shape, begin: at, end });
    at = end;
  };
  for (const [name, shape] of zeros) add(name, 'F32', shape, 4);
  for (const { name, claim, dtype } of outputs) {
    const shape = shapeOf(claim);
    if (dtype === 'U8') {
      const groups = Math.ceil(shape[1]! / kGroup);
      add(name, dtype, [shape[0]!, (groups * kGroup) / 2], 1);
      const type = floatType((claim.coding as { scale: Tensor }).scale);
      add(`${name}_scale`, type, [shape[0]!, groups], kElementBytes[type]);
      continue;
    }
    add(name, dtype, shape, kElementBytes[dtype]);
    if (dtype === 'I8') add(`${name}_scale`, 'F32', [shape[0]!], 4);
  }
  return entries;
}

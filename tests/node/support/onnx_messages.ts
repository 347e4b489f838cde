// Writes ONNX files, also hostile ones, message by message.
type Part = Uint8Array | number | string;

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let left = BigInt(value); ; ) {
    const low = Number(left & 127n);
    left >>= 7n;
    bytes.push(left > 0n ? low | 128 : low);
    if (left === 0n) return bytes;
  }
}

/** Encodes a field: a varint, or text and bytes after their length (or after `said` instead). */
export function field(number: number, value: Part, said?: number): Uint8Array {
  if (typeof value === 'number') return Uint8Array.from([...varint(number * 8), ...varint(value)]);
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  return Buffer.concat([Uint8Array.from([...varint(number * 8 + 2), ...varint(said ?? bytes.length)]), bytes]);
}

export const message = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts));
export const inputOf = (name: string) => field(11, field(1, name));
export const modelOf = (...graph: Uint8Array[]) => message(field(1, 8), field(7, message(...graph, inputOf('x'), inputOf('ids'))));
export const nodeOf = (op: string, inputs: string[], ...more: Uint8Array[]) =>
  field(1, message(...inputs.map((one) => field(1, one)), field(2, 'y'), field(3, `/a/b/${op}`), field(4, op), ...more));
const attribute = (name: string, value: number) => field(5, message(field(1, name), field(3, value), field(20, 2)));
export const tensorOf = (name: string, dims: number[], bytes: number, type = 1, ...more: Uint8Array[]) =>
  field(5, message(...dims.map((dim) => field(1, dim)), field(2, type), field(8, name), field(9, new Uint8Array(bytes)), ...more));
const externalOf = (...pairs: [string, string][]) =>
  field(
    5,
    message(
      field(1, 2),
      field(1, 2),
      field(2, 1),
      field(8, 'w'),
      ...pairs.map(([key, value]) => field(13, message(field(1, key), field(2, value)))),
      field(14, 1),
    ),
  );

/** Hostile ONNX files, each with the message of its refusal. */
export function hostileFiles(): [what: string, content: Uint8Array, message: RegExp][] {
  const product = nodeOf('MatMul', ['x', 'w']);
  const blocks = (bits: number, block: number, ...rest: Uint8Array[]) =>
    nodeOf(
      'MatMulNBits',
      ['x', 'w', 's', ''],
      attribute('K', 32),
      attribute('N', 1),
      attribute('bits', bits),
      attribute('block_size', block),
      ...rest,
    );
  return [
    ['a field that is longer than the file', message(field(1, 8), field(7, 'x', 2 ** 50)), /longer than its message|ends/],
    ['a length beyond 2^63', message(field(1, 8), Uint8Array.from([0x3a, ...Array(9).fill(0xff), 1])), /longer than its message|key/],
    ['a number without end', message(field(1, 8), Uint8Array.from(Array(12).fill(0x80))), /more than ten bytes/],
    ['a group', message(field(1, 8), Uint8Array.from([0x0b])), /impossible key/],
    ['field number 0', message(field(1, 8), Uint8Array.from([0x02, 0])), /impossible key/],
    ['no graph', message(field(1, 8)), /no graph/],
    ['two graphs', message(modelOf(product), field(7, product)), /two graphs/],
    ['training_info', message(modelOf(product), field(20, 'x')), /training_info/],
    ['functions', message(modelOf(product), field(25, 'x')), /functions/],
    ['sparse tensors', modelOf(product, field(15, 'x')), /sparse/],
    ['a node that is longer than the graph', modelOf(field(1, 'x', 1000)), /longer than its message/],
    ['many nodes', modelOf(Buffer.concat(Array(65_537).fill(field(1, field(4, 'A'))))), /more than 65536 nodes/],
    ['many inputs', modelOf(nodeOf('MatMul', Array(5000).fill('x'))), /more than 4096 inputs/],
    ['a long name', modelOf(nodeOf('MatMul', ['x'.repeat(5000)])), /longer than 4096/],
    ['two tensors of one name', modelOf(product, tensorOf('w', [1], 4), tensorOf('w', [1], 4)), /two tensors are named "w"/],
    ['a negative size', modelOf(product, field(5, message(field(1, -1 >>> 0), field(2, 1), field(8, 'w')))), /instead of|impossible shape/],
    ['sizes that overflow', modelOf(product, tensorOf('w', [2 ** 40, 2 ** 40], 4)), /impossible shape/],
    ['a million sizes', modelOf(product, field(5, field(1, new Uint8Array(1_000_000)))), /more than 8 dimensions/],
    ['bytes that do not fit the shape', modelOf(product, tensorOf('w', [2, 2], 12)), /has 12 bytes instead of 16/],
    ['typed data of megabytes', modelOf(product, field(5, field(4, new Uint8Array(2 << 20)))), /a field of a tensor has/],
    ['external data elsewhere', modelOf(product, externalOf(['location', '../../etc/passwd'])), /names a file of weights that is not read/],
    ['external data by URL', modelOf(product, externalOf(['location', 'https://evil.example/w'])), /is not read/],
    ['an impossible offset', modelOf(product, externalOf(['location', 'model.onnx_data'], ['offset', '-1'])), /impossible offset/],
    ['external data of another length', modelOf(product, externalOf(['location', 'm'], ['length', '3'])), /has 3 bytes instead of 16/],
    ['weights of 3 bits', modelOf(blocks(3, 32), tensorOf('w', [1, 1, 16], 16, 2), tensorOf('s', [1], 4)), /3 bits in blocks of 32/],
    ['blocks of 0', modelOf(blocks(4, 0), tensorOf('w', [1, 1, 16], 16, 2), tensorOf('s', [1], 4)), /blocks of 0/],
    ['too few scales', modelOf(blocks(4, 16), tensorOf('w', [1, 1, 16], 16, 2), tensorOf('s', [1], 4)), /do not make a matrix/],
    ['codes of text', modelOf(blocks(4, 32), tensorOf('w', [1, 1, 16], 16, 8), tensorOf('s', [1], 4)), /do not make a matrix/],
    [
      'zero points of text',
      modelOf(
        nodeOf(
          'MatMulNBits',
          ['x', 'w', 's', 'z'],
          attribute('K', 32),
          attribute('N', 1),
          attribute('bits', 4),
          attribute('block_size', 32),
        ),
        tensorOf('w', [1, 1, 16], 16, 2),
        tensorOf('s', [1], 4),
        tensorOf('z', [1], 1, 8),
      ),
      /do not make a matrix/,
    ],
    [
      'an order of columns',
      modelOf(nodeOf('MatMulNBits', ['x', 'w', 's', '', 'g']), tensorOf('w', [1], 4), tensorOf('s', [1], 4), tensorOf('g', [1], 4)),
      /g_idx/,
    ],
    ['packed weights', modelOf(nodeOf('QAttention', ['x'])), /QAttention.*packs weights/],
    ['a tensor that is lacking', modelOf(nodeOf('Add', ['x', 'w'])), /node \/a\/b\/Add \(Add\) reads "w", which the file lacks/],
    ['two nodes of one result', modelOf(nodeOf('Add', ['x', 'x']), nodeOf('Mul', ['x', 'x'])), /two nodes compute "y"/],
    ['millions of fields', modelOf(Buffer.alloc(4_000_000, field(9, 1))), /more than 1048576 fields/],
    ['a factor of a product', modelOf(nodeOf('Gemm', ['x', 'w', ''], attribute('transA', 1)), tensorOf('w', [2, 2], 16)), /transA/],
  ];
}

/** A node of a module, for example of "cls.predictions.decoder". */
export const nodeOfModule = (op: string, module: string, inputs: string[], output: string) =>
  field(
    1,
    message(...inputs.map((one) => field(1, one)), field(2, output), field(3, `/${module.replaceAll('.', '/')}/${op}`), field(4, op)),
  );

export const floatsOf = (name: string, dims: number[], values: Float32Array<ArrayBuffer>) =>
  field(5, message(...dims.map((dim) => field(1, dim)), field(2, 1), field(8, name), field(9, new Uint8Array(values.buffer))));

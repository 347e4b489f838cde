// Reads nodes and initializers of ModelProto and GraphProto, forward. The graph is never executed.
import { PeruseError, throwIfAborted } from '../errors.js';
import { afterWork } from '../events.js';
import type { ByteStream } from './byte_stream.js';
import { fields, kBytes, kEightBytes, kVarint, malformed, numbersOf, splitKey, textOf, Varint } from './protobuf.js';
import { kSmallBytes, parseTensor, type Tensor, TensorBuilder } from './tensor.js';

export interface Node {
  op: string;
  domain: string;
  name: string;
  inputs: string[];
  outputs: string[];
  numbers: Map<string, number[]>;
  floats: Map<string, number>;
  value?: Tensor;
  /** pkg.torch.onnx.name_scopes: the modules around the node, outermost first. */
  scopes?: string[];
}

export interface Graph {
  nodes: Node[];
  tensors: Map<string, Tensor>;
}

const kMostNodes = 65_536;
const kMostTensors = 65_536;
const kMostNodeBytes = 64 << 20;
const kMostConstantBytes = 1 << 16;
const kMostNames = 4096;
/** Fields of the whole file, so that meaningless ones take a second at most. */
const kMostFields = 1 << 20;
const kFieldsBetweenEvents = 4096;
const kMostInputBytes = 1 << 16;
/** Longest list of numbers to keep; no attribute that is used has more. */
const kMostNumbers = 16;

export async function readGraph(stream: ByteStream, signal: AbortSignal): Promise<Graph> {
  const reader = new GraphReader(stream, signal);
  await reader.readModel();
  return reader.graph;
}

type Spend = () => void;

class GraphReader {
  readonly graph: Graph = { nodes: [], tensors: new Map() };
  private readonly inputs_ = new Set<string>();
  private readonly outputs_ = new Set<string>();
  private nodeBytes_ = 0;
  private hasGraph_ = false;
  private fields_ = 0;
  private lastEvents_ = performance.now();

  constructor(
    private readonly stream_: ByteStream,
    private readonly signal_: AbortSignal,
  ) {}

  async readModel(): Promise<void> {
    while (!(await this.stream_.ended())) {
      const { number, type } = await this.key();
      if (number === 7 && type === kBytes) {
        if (this.hasGraph_) throw malformed('the file has two graphs');
        this.hasGraph_ = true;
        await this.readGraph(await this.length());
        continue;
      }
      const length = await this.skipped(type);
      if (length > 0 && number === 20) throw new PeruseError('unsupported', 'ONNX: the file holds training_info, which is not read.');
      if (length > 0 && number === 25) throw new PeruseError('unsupported', 'ONNX: the file holds functions, which are not read.');
    }
    if (!this.hasGraph_) throw malformed('the file has no graph');
    this.checkInputs();
  }

  /** A file that lost an initializer must not pass for one from which a tool removed a bias of zeros. */
  private checkInputs(): void {
    const known = (name: string) => name === '' || this.outputs_.has(name) || this.inputs_.has(name) || this.graph.tensors.has(name);
    for (const { op, name, inputs } of this.graph.nodes) {
      const missing = inputs.find((input) => !known(input));
      if (missing !== undefined) throw malformed(`node ${name} (${op}) reads "${missing}", which the file lacks`);
    }
  }

  private async readGraph(length: number): Promise<void> {
    const end = this.stream_.position + length;
    while (this.stream_.position < end) {
      const { number, type } = await this.key();
      if (type !== kBytes || (number !== 1 && number !== 5 && number !== 11)) {
        await this.skipped(type, end);
        if (number === 15) throw new PeruseError('unsupported', 'ONNX: the file holds sparse initializers, which are not read.');
        continue;
      }
      const size = await this.length(end);
      if (number === 1) await this.readNode(size);
      else if (number === 5) await this.readTensor(size);
      else await this.readInput(size);
    }
    if (this.stream_.position !== end) throw malformed('the graph does not end with its last field');
  }

  private async readNode(size: number): Promise<void> {
    this.nodeBytes_ += size;
    if (this.nodeBytes_ > kMostNodeBytes) throw malformed(`the nodes have more than ${kMostNodeBytes} bytes`);
    if (this.graph.nodes.length === kMostNodes) throw malformed(`the graph has more than ${kMostNodes} nodes`);
    const node = parseNode(await this.stream_.take(size), this.spend);
    this.graph.nodes.push(node);
    for (const output of node.outputs) {
      if (output !== '' && this.outputs_.has(output)) throw malformed(`two nodes compute "${output}"`);
      this.outputs_.add(output);
    }
    const [output] = node.outputs;
    if (node.value && output !== undefined) this.add({ ...node.value, name: output });
  }

  private async readInput(size: number): Promise<void> {
    if (size > kMostInputBytes) throw malformed(`an input of the graph has ${size} bytes`);
    for (const field of fields(await this.stream_.take(size))) {
      this.spend();
      if (field.number === 1) this.inputs_.add(textOf(field, 'the name of an input'));
    }
  }

  private async readTensor(size: number): Promise<void> {
    const end = this.stream_.position + size;
    const builder = new TensorBuilder();
    while (this.stream_.position < end) {
      const { number, type } = await this.key();
      if (type === kVarint) {
        builder.push({ number, type, value: await this.varint(), bytes: new Uint8Array(0) });
        continue;
      }
      const length = type === kBytes ? await this.length(end) : type === kEightBytes ? 8 : 4;
      if (number === 9) {
        const place = { offset: this.stream_.position, length };
        if (length <= kSmallBytes) builder.setRaw({ bytes: await this.stream_.take(length) });
        else {
          await this.stream_.skip(length);
          builder.setRaw({ place });
        }
      } else if ([1, 4, 5, 7, 8, 10, 11, 13].includes(number)) {
        if (length > 1 << 20) throw malformed(`a field of a tensor has ${length} bytes`);
        builder.push({ number, type, value: 0, bytes: await this.stream_.take(length) });
      } else {
        await this.stream_.skip(length);
      }
    }
    if (this.stream_.position !== end) throw malformed('a tensor does not end with its last field');
    this.add(builder.build());
  }

  private add(tensor: Tensor): void {
    if (this.graph.tensors.has(tensor.name)) throw malformed(`two tensors are named "${tensor.name}"`);
    if (this.graph.tensors.size === kMostTensors) throw malformed(`the graph has more than ${kMostTensors} tensors`);
    this.graph.tensors.set(tensor.name, tensor);
  }

  private async key(): Promise<ReturnType<typeof splitKey>> {
    this.spend();
    if (this.fields_ % kFieldsBetweenEvents === 0) {
      await afterWork(performance.now() - this.lastEvents_);
      this.lastEvents_ = performance.now();
      throwIfAborted(this.signal_);
    }
    return splitKey(await this.varint());
  }

  private readonly spend: Spend = () => {
    if (++this.fields_ > kMostFields) throw malformed(`the file has more than ${kMostFields} fields`);
  };

  private async varint(): Promise<number> {
    const varint = new Varint();
    while (!varint.push(await this.stream_.byte()));
    return varint.value;
  }

  private async length(end = Number.MAX_SAFE_INTEGER): Promise<number> {
    const length = await this.varint();
    if (length < 0 || length > end - this.stream_.position) throw malformed('a field is longer than its message');
    return length;
  }

  private async skipped(type: number, end?: number): Promise<number> {
    if (type === kVarint) {
      await this.varint();
      return 1;
    }
    const length = type === kBytes ? await this.length(end) : type === kEightBytes ? 8 : 4;
    await this.stream_.skip(length);
    return length;
  }
}

function parseNode(message: Uint8Array, spend: Spend): Node {
  const node: Node = { op: '', domain: '', name: '', inputs: [], outputs: [], numbers: new Map(), floats: new Map() };
  for (const field of fields(message)) {
    spend();
    if (field.number === 1) node.inputs.push(textOf(field, 'the name of an input'));
    else if (field.number === 2) node.outputs.push(textOf(field, 'the name of an output'));
    else if (field.number === 3) node.name = textOf(field, 'the name of a node');
    else if (field.number === 4) node.op = textOf(field, 'the operator of a node');
    else if (field.number === 7) node.domain = textOf(field, 'the domain of a node');
    else if (field.number === 5) parseAttribute(field.bytes, node, spend);
    else if (field.number === 9) parseMetadata(field.bytes, node, spend);
    if (node.inputs.length > kMostNames || node.outputs.length > kMostNames) {
      throw malformed(`a node has more than ${kMostNames} inputs or outputs`);
    }
  }
  return node;
}

/** Skips subgraphs (field 6), which contain no parameters. */
function parseAttribute(message: Uint8Array, node: Node, spend: Spend): void {
  let name = '';
  const numbers: number[] = [];
  let value: Uint8Array | undefined;
  let float: number | undefined;
  for (const field of fields(message)) {
    spend();
    if (field.number === 1) name = textOf(field, 'the name of an attribute');
    else if (field.number === 2 && field.bytes.length === 4) float = new DataView(field.bytes.slice().buffer).getFloat32(0, true);
    else if (field.number === 3 || field.number === 8) numbers.push(...numbersOf(field, kMostNumbers));
    else if (field.number === 5) value = field.bytes;
  }
  if (float !== undefined) node.floats.set(name, float);
  if (numbers.length > 0) node.numbers.set(name, numbers);
  if (node.op !== 'Constant' && node.op !== '') return;
  if (name === 'value' && value && value.length <= kMostConstantBytes + 1024) node.value = parseTensor(value);
}

function parseMetadata(message: Uint8Array, node: Node, spend: Spend): void {
  let key = '';
  let value = '';
  for (const field of fields(message)) {
    spend();
    if (field.number === 1) key = new TextDecoder().decode(field.bytes.subarray(0, 64));
    else if (field.number === 2 && field.bytes.length <= 1 << 16) value = new TextDecoder().decode(field.bytes);
  }
  if (key === 'pkg.torch.onnx.name_scopes')
    node.scopes = [...value.matchAll(/'([^']*)'|"([^"]*)"/g)].map((found) => found[1] ?? found[2] ?? '');
}

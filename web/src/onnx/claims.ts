// Determines which parameter each constant of an ONNX graph is, from the node that uses it and the module of that node.
// A parameter to which two nodes assign different constants is omitted and reported in `conflicts`. Constants without a name are omitted.
// Nothing is guessed: the engine rejects a file without the parameters that it needs.
import { PeruseError } from '../errors.js';
import { familyOf, refusedType } from '../sources/onnx_families.js';
import type { OnnxRequest } from '../sources/onnx_part.js';
import type { Claim, Claims } from './claim.js';
import { type Coding, Constants, integers, type Stored } from './constants.js';
import type { Graph, Node } from './graph.js';
import { moduleOf, wrapperOf } from './modules.js';
import { positionTables } from './position_tables.js';
import { isFloat, kTypes, sizeOf, type Tensor } from './tensor.js';
import { claimTied, isDecoder, wordTable } from './tied.js';

/** Operators that store weights in a format of their own, which is not supported. */
const kPacked =
  /^(QAttention|QEmbedLayerNormalization|MultiHeadAttention|PackedAttention|PackedMultiHeadAttention|GroupQueryAttention|QOrdered\w+|DynamicQuantizeMatMul|MatMulIntegerToFloat)$/;

export function claimParameters(graph: Graph, { modelType, tied }: Pick<OnnxRequest, 'modelType' | 'tied'>): Claims {
  const refusal = refusedType(modelType);
  if (refusal) throw new PeruseError('unsupported', refusal);
  for (const { op, name, domain } of graph.nodes) {
    if (!kPacked.test(op) && domain !== 'com.microsoft.nchwc') continue;
    throw new PeruseError(
      'unsupported',
      `node ${name} (${op}) packs weights in a way that isn't read; use model.onnx or model_quantized.onnx`,
    );
  }
  const claims = new Claiming(graph, modelType).run();
  if (tied) claimTied(claims);
  return claims;
}

/** Linear layers that never have a bias, in families whose others have. */
const kWithoutBias = /(^|\.)(embed_proj|in_proj|pos_proj|decoder|Wqkv|out_proj|fc1[12]|fc2|up_gate_proj|up_gated_layer|gated_layers)$/;
/** Constants of positions, which are no parameters. */
const kPositions = /(^|\.)rotary_emb\./;
const kBiasAdders = new Set(['Add', 'BiasGelu', 'FastGelu', 'SkipLayerNormalization']);

class Claiming {
  private readonly constants_: Constants;
  private readonly claims_: Claims = { parameters: new Map(), copies: [], zeros: new Map(), conflicts: [], changes: {} };
  private readonly conflicting_ = new Set<string>();
  /** Names of linear layers with weights, from which tools may have removed a bias of zeros. */
  private readonly linears_ = new Map<string, number>();
  /** Biases in modules "attention.self" of DeBERTa's first version. */
  private readonly selfBiases_ = new Map<string, { order: number; stored: Stored }[]>();
  private readonly used_ = new Set<Tensor>();
  /** Tensors that are equal to the first tensor of the same name, or will be compared with it. */
  private readonly equalTo_ = new Map<Tensor, Tensor>();
  private readonly wordTable_: string | undefined;

  constructor(
    private readonly graph_: Graph,
    private readonly modelType_: string,
  ) {
    this.constants_ = new Constants(graph_);
    this.wordTable_ = wordTable(graph_.tensors.keys());
  }

  run(): Claims {
    for (const node of this.graph_.nodes) this.claimOf(node);
    this.claimSelfBiases();
    this.claimOwnNames();
    this.claimAliases();
    this.claimPositionTables();
    this.dropSecondCalls();
    this.addZeros();
    this.unwrap();
    return this.claims_;
  }

  private claimOf(node: Node): void {
    const module = moduleOf(node);
    const named = (part: string) => module && `${module}.${part}`;
    switch (node.op) {
      case 'MatMul':
      case 'FusedMatMul':
        this.claimProduct(node, this.constants_.find(node.inputs[1]), named('weight'));
        return;
      case 'MatMulInteger':
        this.claimProduct(node, this.integerOperand(node), named('weight'));
        return;
      case 'Gemm':
      case 'FusedGemm':
        this.claimGemm(node, named);
        return;
      case 'MatMulNBits':
      case 'MatMulBnb4':
        this.claimBlocks(node, named);
        return;
      case 'Conv':
      case 'ConvInteger':
        this.claimConvolution(node, named);
        return;
      case 'Gather':
        this.claimTable(this.constants_.find(node.inputs[0]), node, named('weight'));
        return;
      case 'GatherBlockQuantized':
        this.claimTable(this.blockTable(node), node, named('weight'));
        return;
      case 'LayerNormalization':
        this.claimVectors(node, 1, named('weight'), named('bias'));
        return;
      case 'SimplifiedLayerNormalization':
        this.claimVectors(node, 1, named('weight'), undefined);
        return;
      case 'SkipLayerNormalization':
        this.claimVectors(node, 2, undefined, undefined);
        return;
      case 'Mul':
        this.claimFactor(node, named('weight'));
        return;
      case 'Add':
        this.claimSummand(node, module);
        return;
      case 'BiasGelu':
      case 'FastGelu':
        this.claimOwn(node.inputs[1]);
        return;
      case 'Attention':
        this.claimAttention(node, module);
        return;
    }
  }

  private claim(name: string | undefined, claim: Claim | undefined): void {
    if (name === undefined || claim === undefined || this.conflicting_.has(name)) return;
    this.used_.add(claim.tensor);
    if (kPositions.test(name)) return;
    const before = this.claims_.parameters.get(name);
    if (before === undefined) {
      this.claims_.parameters.set(name, claim);
      return;
    }
    const [first, second] = [before.tensor, claim.tensor];
    if (first === second) return;
    const alike = first.type === second.type && String(before.shape) === String(claim.shape) && before.transposed === claim.transposed;
    if (alike && this.equalTo_.get(second) === first) return;
    if (alike && (!first.bytes || !second.bytes || equalBytes(first.bytes, second.bytes))) {
      if (!first.bytes || !second.bytes) this.claims_.copies.push({ name, first, second, turned: false });
      this.equalTo_.set(second, first);
      return;
    }
    this.claims_.parameters.delete(name);
    this.conflicting_.add(name);
    this.claims_.conflicts.push(`two tensors claim ${name}: ${first.name} and ${second.name}`);
  }

  /** Identifies a product's weight, stored as [in, out]. Grouped linear layers (three axes) keep their own name. */
  private claimProduct(node: Node, stored: Stored | undefined, name: string | undefined): void {
    if (stored === undefined) return;
    if (stored.shape.length === 3) this.claimOwn(stored.tensor.name);
    if (stored.shape.length !== 2 || node.numbers.get('transB')?.[0] === 1 || node.numbers.get('transA')?.[0] === 1) return;
    const weight = name ?? this.weightOfBias(node);
    if (weight === undefined) return;
    const turned = { ...stored, transposed: !stored.transposed };
    this.claim(weight, turned);
    this.linears_.set(weight.slice(0, -'.weight'.length), turned.transposed ? turned.shape[1]! : turned.shape[0]!);
  }

  /** Returns an integer operand with its scale (by name: X_scale of X_quantized) and zero point (from the node's inputs). */
  private integerOperand(node: Node): Stored | undefined {
    const codes = this.constants_.tensor(node.inputs[1]);
    if (!codes) return undefined;
    const scale = this.constants_.tensor(`${codes.name.replace(/_quantized$/, '')}_scale`);
    return scale && integers(codes, scale, this.constants_.tensor(node.inputs[3]), codes.dims.length - 1);
  }

  /** If the graph lacks module names: names a weight after the bias that is added to its product. */
  private weightOfBias(node: Node): string | undefined {
    let output = node.outputs[0];
    for (let steps = 0; steps < 3 && output !== undefined; ++steps) {
      const consumers: Node[] = this.constants_.consumers.get(output) ?? [];
      const [next] = consumers;
      if (next === undefined || consumers.length > 1) return undefined;
      if (kBiasAdders.has(next.op)) {
        return this.weightOfOwnBias(
          next.inputs.find((input) => input.endsWith('.bias') && this.constants_.tensor(input)?.dims.length === 1),
        );
      }
      if (next.op !== 'Cast' && next.op !== 'Mul') return undefined;
      output = next.outputs[0];
    }
    return undefined;
  }

  /** Names a weight X.weight after a bias X.bias that is added only once. */
  private weightOfOwnBias(bias: string | undefined): string | undefined {
    if (!bias?.endsWith('.bias') || ownName(bias) === undefined) return undefined;
    if ((this.constants_.consumers.get(bias) ?? []).length !== 1) return undefined;
    return `${bias.slice(0, -'.bias'.length)}.weight`;
  }

  private claimGemm(node: Node, named: (part: string) => string | undefined): void {
    const stored = this.constants_.find(node.inputs[1]);
    if (stored === undefined) return;
    if ((node.floats.get('alpha') ?? 1) !== 1 || (node.floats.get('beta') ?? 1) !== 1 || node.numbers.get('transA')?.[0] === 1) {
      throw new PeruseError('unsupported', `node ${node.name} (${node.op}) has an alpha, a beta or a transA that isn't read`);
    }
    const transposed = (node.numbers.get('transB')?.[0] ?? 0) === 1 ? stored.transposed : !stored.transposed;
    const bias = this.constants_.find(node.inputs[2]);
    const own = /\.weight$/.test(stored.tensor.name) ? stored.tensor.name : this.weightOfOwnBias(node.inputs[2]);
    this.claim(named('weight') ?? own, { ...stored, transposed });
    if (bias?.shape.length === 1) this.claim(named('bias') ?? ownName(bias.tensor.name), bias);
  }

  private claimBlocks(node: Node, named: (part: string) => string | undefined): void {
    const [codes, scale, zero, order, bias] = node.inputs.slice(1).map((input) => this.constants_.tensor(input));
    const number = (key: string, missing: number) => node.numbers.get(key)?.[0] ?? missing;
    const shape = [number('N', 0), number('K', 0)];
    const isBnb = node.op === 'MatMulBnb4';
    const block = number('block_size', isBnb ? 64 : 32);
    const bits = number('bits', 4);
    if (!codes || !scale) return;
    if (order && !isBnb) throw refused(node, 'has an order of its columns (g_idx), which is not read');
    const coding = isBnb
      ? ({ kind: 'bnb4', scale, block, table: number('quant_type', 1) === 1 ? 'nf4' : 'fp4' } as const)
      : ({ kind: 'blocks', scale, ...(zero && { zero }), bits, block, missingZero: 2 ** (bits - 1) } as const);
    checkBlocks(node, codes, shape, coding);
    const weight = named('weight') ?? this.weightOfBias(node);
    this.claim(weight, { tensor: codes, shape, transposed: false, coding });
    if (weight) this.linears_.set(weight.slice(0, -'.weight'.length), shape[0]!);
    if (bias && !isBnb) this.claim(named('bias'), { tensor: bias, shape: bias.dims, transposed: false, coding: { kind: 'floats' } });
  }

  private claimConvolution(node: Node, named: (part: string) => string | undefined): void {
    const weight = node.op === 'ConvInteger' ? this.integerOperand(node) : this.constants_.find(node.inputs[1]);
    const own = named('weight') ?? (weight && ownName(weight.tensor.name));
    if (weight && !weight.transposed) this.claim(own, weight);
    const bias = node.op === 'Conv' ? this.constants_.find(node.inputs[2]) : undefined;
    if (bias?.shape.length !== 1) return;
    this.claim(addedBias(bias.tensor.name) ?? named('bias') ?? ownName(bias.tensor.name) ?? own?.replace(/weight$/, 'bias'), bias);
  }

  private claimTable(stored: Stored | undefined, node: Node, name: string | undefined): void {
    if (stored?.shape.length !== 2 || stored.transposed || (node.numbers.get('axis')?.[0] ?? 0) !== 0) return;
    const own = ownName(stored.tensor.name);
    this.claim(name ?? (isDecoder(own) ? this.wordTable_ : own), stored);
  }

  private blockTable(node: Node): Stored | undefined {
    const [codes, , scale, zero] = node.inputs.map((input) => this.constants_.tensor(input));
    if (!codes || !scale || codes.dims.length !== 2) return undefined;
    const bits = node.numbers.get('bits')?.[0] ?? 4;
    const block = node.numbers.get('block_size')?.[0] ?? 128;
    const axis = (key: string, missing: number) => node.numbers.get(key)?.[0] ?? missing;
    if (axis('gather_axis', 0) !== 0 || ![1, -1].includes(axis('quantize_axis', 1))) throw refused(node, 'has axes that are not read');
    const packed = codes.type === kTypes.U8 && bits === 4;
    const shape = [codes.dims[0]!, codes.dims[1]! * (packed ? 2 : 1)];
    const coding = {
      kind: 'blocks',
      scale,
      ...(zero && { zero }),
      bits,
      block,
      missingZero: codes.type === kTypes.U8 ? 2 ** (bits - 1) : 0,
    } as const;
    checkBlocks(node, codes, shape, coding);
    return { tensor: codes, shape, transposed: false, coding };
  }

  private claimVectors(node: Node, first: number, weight: string | undefined, bias: string | undefined): void {
    for (const [index, name] of [
      [first, weight],
      [first + 1, bias],
    ] as const) {
      const stored = this.constants_.find(node.inputs[index]);
      if (stored?.shape.length === 1) this.claim(name ?? ownName(stored.tensor.name), stored);
    }
  }

  /** Identifies a layer norm's weight if an older exporter wrote the norm as single operations. */
  private claimFactor(node: Node, name: string | undefined): void {
    for (const input of node.inputs) {
      const stored = this.constants_.find(input);
      if (stored === undefined || stored.shape.length !== 1 || sizeOf(stored.tensor) < 2 || !isFloat(stored.tensor)) continue;
      if (input.endsWith('_scale') && this.graph_.tensors.has(`${input.slice(0, -'_scale'.length)}_quantized`)) continue;
      this.claim(name ?? ownName(stored.tensor.name), stored);
    }
  }

  private claimSummand(node: Node, module: string | undefined): void {
    for (const input of node.inputs) {
      const stored = this.constants_.find(input);
      if (stored === undefined || sizeOf(stored.tensor) < 2) continue;
      const { shape } = stored;
      if (shape.length === 1 || (shape.length === 2 && shape[1] === 1)) {
        this.claim(module === undefined ? ownName(stored.tensor.name) : `${module}.bias`, stored);
      } else if (shape.length === 4 && shape[0] === 1 && shape[2] === 1 && module?.endsWith('attention.self')) {
        const list = this.selfBiases_.get(module) ?? [];
        list.push({ order: Number(/_(\d+)$/.exec(node.name)?.[1] ?? 0), stored });
        this.selfBiases_.set(module, list);
      }
    }
  }

  /** DeBERTa's first version adds q_bias, then v_bias, as [1, heads, 1, size]. */
  private claimSelfBiases(): void {
    for (const [module, list] of this.selfBiases_) {
      if (list.length !== 2) continue;
      list.sort((a, b) => a.order - b.order);
      ['q_bias', 'v_bias'].forEach((part, index) => {
        const { stored } = list[index]!;
        this.claim(`${module}.${part}`, { ...stored, shape: [sizeOf(stored.tensor)] });
      });
    }
  }

  /** Splits one matrix [in, 3 * out] of queries, keys and values, which onnxruntime's optimiser creates. */
  private claimAttention(node: Node, module: string | undefined): void {
    if (node.numbers.has('qkv_hidden_sizes')) {
      throw new PeruseError('unsupported', `node ${node.name} (Attention) has qkv_hidden_sizes, which are not read`);
    }
    const weight = this.constants_.find(node.inputs[1]);
    const bias = this.constants_.find(node.inputs[2]);
    const width = (weight?.shape[1] ?? 0) / 3;
    if (module === undefined || weight?.shape.length !== 2 || weight.transposed || !Number.isInteger(width)) return;
    const names = familyOf(this.modelType_)?.projections ?? ['query', 'key', 'value'];
    names.forEach((part, index) => {
      const columns = { first: index * width, count: width };
      this.claim(`${module}.${part}.weight`, { ...weight, transposed: true, columns });
      if (bias?.shape.length === 1 && bias.shape[0] === 3 * width) this.claim(`${module}.${part}.bias`, { ...bias, columns });
    });
  }

  private claimOwn(name: string | undefined): void {
    const stored = this.constants_.find(name);
    if (stored && !stored.transposed) this.claim(ownName(stored.tensor.name), stored);
  }

  /** Initializers that no node has identified keep their own names. */
  private claimOwnNames(): void {
    for (const tensor of this.graph_.tensors.values()) {
      const name = ownName(tensor.name);
      if (name === undefined || this.claims_.parameters.has(name) || this.used_.has(tensor)) continue;
      const stored = this.constants_.find(tensor.name);
      if (stored) this.claim(name, stored);
    }
    for (const { op, inputs, outputs } of this.graph_.nodes) {
      const name = op === 'Identity' ? ownName(outputs[0] ?? '') : undefined;
      if (name !== undefined && !this.claims_.parameters.has(name)) this.claim(name, this.constants_.find(inputs[0]));
    }
  }

  private claimAliases(): void {
    for (const [name, claim] of [...this.claims_.parameters]) {
      // Tools merge the bias of ConvBERT's separable convolution into its pointwise one, which has no bias of its own.
      const other = name
        .replace(/(predictions|lm_head)\.decoder\.bias$/, '$1.bias')
        .replace(/(key_conv_attn_layer)\.pointwise\.bias$/, '$1.bias');
      if (other !== name && !this.claims_.parameters.has(other)) this.claim(other, claim);
      if (/key_conv_attn_layer\.bias$/.test(other) && claim.shape.length === 1) claim.asColumn = true;
    }
  }

  private claimPositionTables(): void {
    if (!familyOf(this.modelType_)?.foldsPositions) return;
    for (const name of this.claims_.parameters.keys()) if (name.endsWith('encoder.rel_embeddings.weight')) return;
    for (const [name, table] of positionTables(this.constants_)) {
      this.claim(name, table);
      this.claims_.changes.peruse_position_tables = true;
    }
  }

  /**
   * Drops weights of a second call of a module (ALBERT's layers), whose names contain <module>_1. They must be those of the first call; next to integers of
   * 8 bits they may be floats, unless whole layers are called again. Integers of 4 bits are too far from those floats.
   */
  private dropSecondCalls(): void {
    const { repeatsLayers } = familyOf(this.modelType_) ?? {};
    const call = repeatsLayers ? /(?<=[a-z])_\d+(?=\.)/g : /(?<=\.\w+_proj)_\d+(?=\.(weight|bias)$)/g;
    for (const [name, { tensor, coding, columns }] of [...this.claims_.parameters]) {
      const own = name.replace(call, '');
      const first = own === name ? undefined : this.claims_.parameters.get(own);
      if (first === undefined) continue;
      this.claims_.parameters.delete(name);
      this.linears_.delete(name.slice(0, name.lastIndexOf('.')));
      if (first.tensor === tensor) continue;
      if (coding.kind === first.coding.kind && tensor.type === first.tensor.type) {
        if (columns || first.columns) continue; // onnxruntime's optimiser has joined equal matrices with others
        this.claims_.copies.push({ name: own, first: first.tensor, second: tensor, turned: false });
        if ('scale' in coding && 'scale' in first.coding && coding.scale !== first.coding.scale) {
          this.claims_.copies.push({ name: own, first: first.coding.scale, second: coding.scale, turned: false });
        }
      } else if (first.coding.kind !== 'integers' || repeatsLayers) {
        this.claims_.parameters.delete(own);
        this.claims_.conflicts.push(`two tensors claim ${own}: ${first.tensor.name} and ${tensor.name}`);
      }
    }
  }

  /** Adds biases of zeros, which tools remove, if everything else was identified and the family's linear layers have biases. */
  private addZeros(): void {
    if (familyOf(this.modelType_)?.withoutBiases || this.leftOver()) return;
    for (const [module, width] of this.linears_) {
      const name = `${module}.bias`;
      if (this.claims_.parameters.has(name) || this.conflicting_.has(name)) continue;
      if (kWithoutBias.test(module)) continue;
      this.claims_.zeros.set(name, [width]);
    }
  }

  private leftOver(): boolean {
    const inUse = new Set<Tensor>(this.used_);
    for (const { coding } of this.claims_.parameters.values()) if (coding.kind !== 'floats') inUse.add(coding.scale);
    return [...this.graph_.tensors.values()].some(
      (tensor) =>
        isFloat(tensor) &&
        !inUse.has(tensor) &&
        sizeOf(tensor) > 1 &&
        tensor.dims.length <= 2 &&
        !/_(scale|scales|absmax)$/.test(tensor.name),
    );
  }

  private unwrap(): void {
    const wrapper = wrapperOf(this.claims_.parameters.keys());
    if (wrapper === '') return;
    const short = (name: string) => (name.startsWith(wrapper) ? name.slice(wrapper.length) : name);
    const all = [...this.claims_.parameters];
    this.claims_.parameters = new Map(all.map(([name, claim]) => [short(name), claim]));
    for (const [name, claim] of all) {
      const other = this.claims_.parameters.get(short(name));
      if (other === undefined || other.tensor === claim.tensor) continue;
      this.claims_.parameters.delete(short(name));
      this.claims_.conflicts.push(`two tensors claim ${short(name)}: ${claim.tensor.name} and ${other.tensor.name}`);
    }
    this.claims_.zeros = new Map([...this.claims_.zeros].map(([name, shape]) => [short(name), shape]));
  }
}

/** Returns the exported name without a quantiser's suffix; undefined for names that an exporter invented. */
function ownName(name: string): string | undefined {
  const own = name.replace(/_(quantized|Q4|Bnb4|transposed|Transposed)$/, '');
  if (/_(scales?|zero_points?|absmax)$/.test(own)) return undefined; // these are parts of quantised tensors, not parameters
  return own.includes('.') && !own.includes('::') && !own.startsWith('/') ? own : undefined;
}

/** Returns the name of a bias that onnxslim has merged from an addition into the convolution before, and named after the addition. */
function addedBias(name: string): string | undefined {
  const [, adder] = /^\/(.+)\/Add(?:_\d+)?_output_0_bias$/.exec(name) ?? [];
  return adder && `${adder.replaceAll('/', '.')}.bias`;
}

function refused(node: Node, why: string): PeruseError {
  return new PeruseError('unsupported', `node ${node.name} (${node.op}) ${why}; use model.onnx or model_quantized.onnx`);
}

function checkBlocks(node: Node, codes: Tensor, [rows = 0, width = 0]: number[], coding: Coding & { kind: 'blocks' | 'bnb4' }): void {
  const { block } = coding;
  const bits = coding.kind === 'blocks' ? coding.bits : 4;
  if (![4, 8].includes(bits) || block < 16 || block > 256 || (block & (block - 1)) !== 0) {
    throw refused(node, `has ${bits} bits in blocks of ${block}, which is not read`);
  }
  const blocks = coding.kind === 'bnb4' ? Math.ceil((rows * width) / coding.block) : rows * Math.ceil(width / coding.block);
  const has = sizeOf(codes) * (codes.type === kTypes.U4 || codes.type === kTypes.I4 ? 0.5 : 1);
  const packed = codes.dims.length === 3 ? Math.ceil(width / coding.block) * coding.block : width;
  const bytes = coding.kind === 'bnb4' ? Math.ceil((rows * width) / 2) : (rows * packed * coding.bits) / 8;
  const zero = coding.kind === 'blocks' ? coding.zero : undefined;
  // zero points of 4 bits are packed in rows that are padded to bytes
  const zeros = zero && (zero.type === kTypes.U8 && bits === 4 ? 2 * sizeOf(zero) : sizeOf(zero));
  const fits = Math.ceil(has) === Math.ceil(bytes) && sizeOf(coding.scale) === blocks && (zeros === undefined || zeros >= blocks);
  const isRead = isCodes(codes) && isFloat(coding.scale) && (!zero || isCodes(zero) || isFloat(zero));
  if (rows < 1 || width < 1 || !fits || !isRead) {
    throw new PeruseError(
      'malformed_file',
      `node ${node.name} (${node.op}) has codes or scales that do not make a matrix [${rows}, ${width}]`,
    );
  }
}

function isCodes({ type }: Tensor): boolean {
  return type === kTypes.U8 || type === kTypes.I8 || type === kTypes.U4 || type === kTypes.I4;
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}

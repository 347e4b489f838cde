// Tables of position keys and queries, into which onnxslim and onnxruntime's optimiser fold DeBERTa's relative embeddings and their
// projections. Each layer multiplies its queries by one [heads, rows, head size], and its keys by the other.
import type { Claim } from './claim.js';
import type { Constants } from './constants.js';
import type { Node } from './graph.js';
import { moduleOf } from './modules.js';
import { isFloat, type Tensor } from './tensor.js';

const kMostSteps = 16;
const kPassing = new Set(['Tile', 'Expand', 'Cast', 'Reshape', 'Transpose', 'Unsqueeze', 'Squeeze', 'Identity']);
const kTables = { query_proj: 'position_keys', key_proj: 'position_queries' } as const;

/** Returns the tables by parameter name. A table whose product is not of queries or keys is omitted. */
export function* positionTables(constants: Constants): Generator<[name: string, claim: Claim]> {
  const names = new Map<string | undefined, string | undefined>(); // by factor, which many products may share
  const nameOfShared = (factor: string | undefined) => {
    if (!names.has(factor)) names.set(factor, nameOfFactor(factor, constants));
    return names.get(factor);
  };
  for (const tensor of constants.graph.tensors.values()) {
    if (!isFloat(tensor) || tensor.dims.length !== 3) continue;
    const name = nameOf(tensor, constants, nameOfShared);
    if (name) yield [name, { tensor, shape: tensor.dims, transposed: false, coding: { kind: 'floats' }, byHeads: true }];
  }
}

function nameOf(tensor: Tensor, constants: Constants, ofFactor: (factor: string | undefined) => string | undefined): string | undefined {
  let isTransposed = false;
  for (let at: string | undefined = tensor.name, steps = 0; at !== undefined && steps < kMostSteps; ++steps) {
    const from: string = at;
    const consumers: Node[] = constants.consumers.get(from) ?? [];
    const product = consumers.find(({ op, inputs }) => (op === 'MatMul' || op === 'FusedMatMul') && inputs[1] === from);
    if (product) {
      const turned = product.numbers.get('transB')?.[0] === 1;
      return isTransposed === turned ? undefined : ofFactor(product.inputs[0]);
    }
    const next = consumers.find(({ op, inputs }) => kPassing.has(op) && inputs[0] === from);
    if (next?.op === 'Transpose') {
      if (String(next.numbers.get('perm')) !== '0,2,1') return undefined;
      isTransposed = !isTransposed;
    }
    at = next?.outputs[0];
  }
  return undefined;
}

/** Follows the product's other factor back to the projection that computes it. */
function nameOfFactor(name: string | undefined, constants: Constants): string | undefined {
  for (let at = name, steps = 0; at !== undefined && steps < kMostSteps; ++steps) {
    const producer: Node | undefined = constants.producers.get(at);
    if (!producer) return undefined;
    const bias = producer.inputs.find((input) => input.endsWith('_proj.bias'))?.slice(0, -'.bias'.length);
    const [, self, part] = /^(.*\.)(query_proj|key_proj)$/.exec(moduleOf(producer) ?? bias ?? '') ?? [];
    if (part) return `${self}${kTables[part as keyof typeof kTables]}`;
    at = producer.inputs.find((input) => !constants.tensor(input));
  }
  return undefined;
}

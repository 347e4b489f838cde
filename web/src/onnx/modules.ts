// The module of the model's class that a node belongs to, for example "bert.encoder.layer.0.attention.self.query".
import { prefixes } from '../sources/onnx_families.js';
import type { Node } from './graph.js';

/** Returns undefined if the exporter, or a tool after it, left no trace of modules. */
export function moduleOf(node: Node): string | undefined {
  if (node.scopes && node.scopes.length >= 2) return node.scopes.at(-2) || undefined; // written by torch's newer exporter
  return ofPath(node.name) ?? ofPath(node.outputs[0] ?? '');
}

function ofPath(name: string): string | undefined {
  const path = name.replace(/^fused (?=\/)/, ''); // written by onnxruntime's optimiser
  if (!path.startsWith('/')) return undefined;
  const parts = path.slice(1).split('/');
  parts.pop();
  return parts.length > 0 ? parts.join('.') : undefined;
}

/** Prefixes of families, and of wrappers around them. */
const kFamilyPrefix = new RegExp(`(^|\\.)((?:${prefixes().join('|')})\\.)$`);
const kFirstNames = ['embeddings.word_embeddings.weight', 'embeddings.tok_embeddings.weight'];

/** Returns the prefix of a wrapper, for example "0.auto_model." for a sentence-transformers model. */
export function wrapperOf(names: Iterable<string>): string {
  for (const name of names) {
    const first = kFirstNames.find((one) => name.endsWith(one));
    if (first === undefined) continue;
    const before = name.slice(0, -first.length);
    const family = kFamilyPrefix.exec(before)?.[2] ?? '';
    const wrapper = before.slice(0, before.length - family.length);
    if (first === kFirstNames[1] && wrapper === 'model.') return ''; // ModernBERT's own prefix, not a wrapper's
    if (first === kFirstNames[1] && wrapper.endsWith('.model.')) return wrapper.slice(0, -'model.'.length);
    return wrapper;
  }
  return '';
}

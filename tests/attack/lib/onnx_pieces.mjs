// Cuts small ONNX files out of large ones: a few neighbouring nodes of the graph, and the tensors that they read.
import { joinMessage, splitMessage } from './mutate.mjs';

const kGraph = 7; // of a model
const kNode = 1; // of a graph
const kTensor = 5; // of a graph
const kInput = 1; // of a node
const kName = 8; // of a tensor
const kMostTensor = 5 << 10; // bytes
const kSuffixes = /_(quantized|scale|zero_point|scales|zero_points|Q4|Bnb4|absmax)$/; // of the tensors of one quantised weight

const kRead = new WeakMap();

export function pieceOf(bytes, random) {
  const { model, graph, nodes, tensors } = read(bytes);
  const first = random.below(nodes.length);
  const some = nodes.slice(first, first + 1 + random.below(6));
  const names = new Set(some.flatMap(({ inputs }) => inputs));
  const kept = tensors.filter(({ name, field }) => names.has(name) && field.content.length <= kMostTensor);
  const fields = [...some.map(({ field }) => field), ...graph, ...kept.map(({ field }) => field)];
  return joinMessage([...model, { number: kGraph, type: 2, content: joinMessage(fields) }]);
}

function read(bytes) {
  const known = kRead.get(bytes);
  if (known) return known;
  const model = splitMessage(bytes);
  const graph = splitMessage(model.find(({ number }) => number === kGraph).content);
  const text = ({ content }) => Buffer.from(content).toString().replace(kSuffixes, '');
  const nodes = graph
    .filter(({ number }) => number === kNode)
    .map((field) => ({
      field,
      inputs: splitMessage(field.content)
        .filter(({ number }) => number === kInput)
        .map(text),
    }));
  const tensors = graph
    .filter(({ number }) => number === kTensor)
    .map((field) => ({ field, name: text(splitMessage(field.content).find(({ number }) => number === kName)) }));
  const found = { model: model.filter(({ number }) => number !== kGraph), graph: [], nodes, tensors };
  kRead.set(bytes, found);
  return found;
}

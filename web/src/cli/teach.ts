import { PeruseError } from '../errors.js';
import { kTeachTasks, type TeachTask } from '../tasks/training.js';
import { type TeachExample, type TeachMethod, teach as teachModel } from '../teach/index_node.js';
import { type Command, choice, flag, list, needed, number, UsageError, type Values } from './command.js';
import { given } from './task_flags.js';
import { trainingFlags, trainToFolder } from './training.js';

const kMethods = ['head', 'contrast', 'layers', 'lora', 'full'] as const;

export const teach: Command = {
  summary: 'Train a model on examples, and write it to a folder',
  usage: '<task> <model> <examples.jsonl>',
  details: `Each line of the file is an example:
  text-classification   {"text", "label"}; the same for zero-shot-classification (GLiClass)
  token-classification  {"text", "entities": [{"start", "end", "label"}]}
  question-answering    {"question", "context", "answer": {"start", "end"}}
Prints the measurements as JSON.`,
  options: {
    method: {
      type: 'string',
      value: 'name',
      help: 'head, contrast, layers, lora or full (by default chosen for the model and the examples)',
    },
    layers: { type: 'string', value: 'n', help: 'with --method layers: number of last layers to train (2)' },
    labels: { type: 'string', value: 'a,b,c', help: "the labels in the model's order (the model's own, or those of the examples)" },
    sift: { type: 'boolean', help: 'scale-invariant fine-tuning: more stable, about three times the work' },
    ...trainingFlags('examples'),
  },
  async run(positionals, values, io) {
    const [taskName, model, file, ...rest] = needed(positionals, ['task', 'model', 'examples.jsonl']);
    if (rest.length > 0) throw new UsageError(`'${rest[0]}' is one argument too many`);
    const task = kTeachTasks.find((name) => name === taskName);
    if (task === undefined) throw new UsageError(`<task> is ${kTeachTasks.join(' or ')}, not '${taskName}'`);
    const own = given({ method: readMethod(values), labels: list(values, 'labels'), sift: flag(values, 'sift') || undefined });
    await trainToFolder<TeachExample>(
      { models: [model], file, parse, train: (examples, options) => teachModel<TeachTask>(task, model, examples, { ...options, ...own }) },
      values,
      io,
    );
  },
};

function readMethod(values: Values): TeachMethod | undefined {
  const method = choice(values, 'method', kMethods);
  const layers = number(values, 'layers');
  if (layers !== undefined && method !== 'layers') throw new UsageError('--layers goes with --method layers');
  return method === 'layers' ? { layers: layers ?? 2 } : method;
}

function parse(content: string, file: string): TeachExample[] {
  return content.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line) as TeachExample];
    } catch (error) {
      const wanted = 'Each line must be an object such as {"text": "...", "label": "..."}.';
      throw new PeruseError('invalid_argument', `${file}, line ${index + 1} is not JSON. ${wanted}`, { cause: error });
    }
  });
}

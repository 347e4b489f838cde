// Warnings about examples and options that are valid but perhaps not intended.
import type { TrainingTask } from '../tasks/definition.js';
import { type EntitySpan, fieldsOf, labelCounts, type PlainExample } from './examples.js';
import { optionsOf, type TeachOptions } from './options.js';

const kNamed = 5;

function numbers(list: readonly number[]): string {
  const shown = list.slice(0, kNamed).join(', ');
  return `${list.length === 1 ? 'Example' : 'Examples'} ${list.length > kNamed ? `${shown} and ${list.length - kNamed} more` : shown}`;
}

export function unreadFields(task: TrainingTask, given: readonly object[]): string[] {
  const known = Object.keys(fieldsOf(task));
  const unread = new Map<string, number[]>();
  for (const [index, example] of given.entries()) {
    for (const field of Object.keys(example)) {
      if (!known.includes(field)) unread.set(field, [...(unread.get(field) ?? []), index]);
    }
  }
  return [...unread].map(
    ([field, where]) => `${numbers(where)}: the field '${field}' is not read; an example of ${task.name} has ${known.join(', ')}.`,
  );
}

function similarLabels(labels: Iterable<string>): string[] {
  const groups = new Map<string, string[]>();
  for (const label of labels) {
    const plain = label.trim().replace(/\s+/gu, ' ').toLowerCase();
    groups.set(plain, [...(groups.get(plain) ?? []), label]);
  }
  const notices = [...groups.values()]
    .filter((group) => group.length > 1)
    .map((group) => `${group.map((label) => JSON.stringify(label)).join(' and ')} are taught as different labels.`);
  if (groups.has('')) notices.push('A label is empty or white space.');
  return notices;
}

function contradictions({ examples: kind }: TrainingTask, examples: readonly PlainExample[]): string[] {
  if (kind === 'answers') return [];
  const seen = new Map<string, { index: number; label: string }>();
  const notices: string[] = [];
  for (const [index, { text, pair, ...label }] of examples.entries()) {
    const key = JSON.stringify([text, pair]);
    const own = JSON.stringify(label);
    const before = seen.get(key);
    if (before === undefined) seen.set(key, { index, label: own });
    else if (before.label !== own) notices.push(`Examples ${before.index} and ${index} are the same text with different labels.`);
  }
  return notices.length > kNamed ? [...notices.slice(0, kNamed), `${notices.length - kNamed} more texts have different labels.`] : notices;
}

function blankEntities(examples: readonly PlainExample[]): string[] {
  const blank = examples.flatMap(({ text, entities }, index) =>
    ((entities ?? []) as EntitySpan[]).some(({ start, end }) => (text as string).slice(start, end).trim() === '') ? [index] : [],
  );
  return blank.length === 0 ? [] : [`${numbers(blank)}: an entity is only white space; it is not taught.`];
}

export function exampleNotices(task: TrainingTask, examples: readonly PlainExample[]): string[] {
  return [
    ...similarLabels(labelCounts(task, examples).keys()),
    ...contradictions(task, examples),
    ...(task.examples === 'entities' ? blankEntities(examples) : []),
  ];
}

/** Returns options without effect for the method. `solved` means that a head for texts is computed as a logistic regression. */
export function unusedOptions(options: TeachOptions, method: string, solved: boolean, validates: boolean): string[] {
  const unused: string[] = [];
  const given = (names: readonly (keyof TeachOptions)[], why: string) => {
    const named = names.filter((name) => options[name] !== undefined);
    if (named.length > 0) unused.push(`${named.join(', ')} ${named.length === 1 ? 'has' : 'have'} no effect: ${why}.`);
  };
  if (solved) given(optionsOf('steps', 'epochs'), "the method 'head' is solved, not trained in steps");
  else if (method === 'contrast') given(optionsOf('epochs'), "the number of updates of the method 'contrast' does not depend on them");
  else if (options.patience !== undefined && !validates) given(['patience'], 'no examples are held out');
  if (method !== 'lora') given(optionsOf('lora'), `the method is '${method}'`);
  if (!solved && method !== 'full' && method !== 'lora') given(['freeze_words'], `the method '${method}' does not train them`);
  return unused;
}

// Determines what the labels of texts mean: one label, several, or numbers. Replaces class ids by names.
import { capital, PeruseError } from '../errors.js';
import type { PlainExample, ProblemType } from './examples.js';

type Kind = 'a string' | 'a list of strings' | 'a number' | 'a list of numbers' | 'an empty list' | 'probabilities';

function kindOf({ label, probabilities }: PlainExample): Kind {
  if (label === undefined || probabilities !== undefined) return 'probabilities';
  if (!Array.isArray(label)) return typeof label === 'number' ? 'a number' : 'a string';
  if (label.length === 0) return 'an empty list';
  return typeof label[0] === 'number' ? 'a list of numbers' : 'a list of strings';
}

interface Sets {
  examples: PlainExample[];
  validation: PlainExample[];
}

function goTogether(a: Kind, b: Kind): boolean {
  if (a === b || a === 'probabilities' || b === 'probabilities') return true;
  return [a, b].includes('an empty list') && [a, b].some((kind) => kind.startsWith('a list'));
}

function checkKinds({ examples, validation }: Sets): Kind {
  const named: [PlainExample, string][] = examples.map((example, index) => [example, `example ${index}`]);
  named.push(...validation.map((example, index): [PlainExample, string] => [example, `validation example ${index}`]));
  let first: { kind: Kind; which: string } | undefined;
  for (const [example, which] of named) {
    const kind = kindOf(example);
    if (kind === 'probabilities') continue;
    if (first && !goTogether(first.kind, kind)) {
      throw new PeruseError(
        'invalid_argument',
        `${capital(which)}: its label is ${kind}, but that of ${first.which} is ${first.kind}. All labels must be of one kind.`,
      );
    }
    if (!first || first.kind === 'an empty list') first = { kind, which };
  }
  return first?.kind ?? 'probabilities';
}

const kKindOf: Record<ProblemType, readonly Kind[]> = {
  single_label_classification: ['a string', 'a number', 'probabilities'],
  multi_label_classification: ['a list of strings', 'a list of numbers', 'an empty list', 'probabilities'],
  regression: ['a number', 'a list of numbers'],
};

const areIds = (examples: readonly PlainExample[]) =>
  examples.every(({ label }) => label === undefined || [label].flat().every((id) => Number.isInteger(id) && (id as number) >= 0));

/**
 * Returns the problem type and the labels. Rejects whole, non-negative numbers without a `problem_type`, which may be class ids. With
 * `labels`, or a `problem_type` of classification, replaces such numbers by label names in `sets`.
 */
export function readProblem(
  sets: Sets,
  problem: ProblemType | undefined,
  labels: readonly string[] | undefined,
): { problem: ProblemType; labels: string[] | undefined } {
  const kind = checkKinds(sets);
  const several = kind.includes('list');
  const numbers = kind.includes('number');
  const own = labels && [...labels];
  if (problem !== undefined && !kKindOf[problem].includes(kind)) {
    throw new PeruseError(
      'invalid_argument',
      `problem_type is '${problem}', whose labels are ${kKindOf[problem][0]!.replace('a ', 'of the kind ')}, but the examples have ${kind}.`,
    );
  }
  const classes = several ? 'multi_label_classification' : 'single_label_classification';
  if (!numbers) return { problem: problem ?? classes, labels: own };
  const all = [...sets.examples, ...sets.validation];
  if (problem === 'regression' || (problem === undefined && !areIds(all))) return { problem: 'regression', labels: own };
  if (problem === undefined && labels === undefined) {
    const remedy = `problem_type: '${classes}' (or labels: [...], the names in the order of the ids), or problem_type: 'regression'`;
    throw new PeruseError('invalid_argument', `The labels are whole numbers, which may be class ids or amounts: say which with ${remedy}.`);
  }
  return { problem: problem ?? classes, labels: nameIds(sets, own) };
}

function nameIds({ examples, validation }: Sets, labels: string[] | undefined): string[] {
  const all = [...examples, ...validation];
  const idsOf = ({ label }: PlainExample) => (label === undefined ? [] : ([label].flat() as number[]));
  const most = all.reduce((largest, example) => Math.max(largest, ...idsOf(example)), 0);
  if (labels === undefined && most >= 10_000)
    throw new PeruseError('invalid_argument', `A label is the number ${most}: class ids must be below 10000.`);
  const names = labels ?? Array.from({ length: most + 1 }, (_, id) => `LABEL_${id}`);
  const name = (which: string) => (id: number) => {
    if (!Number.isInteger(id) || id < 0 || id >= names.length) {
      throw new PeruseError(
        'invalid_argument',
        `${capital(which)}: its label ${id} is not a class id: there are ${names.length} labels, from 0 to ${names.length - 1}.`,
      );
    }
    return names[id]!;
  };
  for (const [set, what] of [
    [examples, 'example'],
    [validation, 'validation example'],
  ] as const) {
    set.forEach((example, index) => {
      if (example.label === undefined) return;
      const named = name(`${what} ${index}`);
      example.label = Array.isArray(example.label) ? (example.label as number[]).map(named) : named(example.label as number);
    });
  }
  return names;
}

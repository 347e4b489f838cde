// The flags of a command for options of a task, of a load, or of training. An option's schema says which flag it has.
import type { Given, OptionFlag, OptionKind } from '../options.js';
import { kTasks, type Task } from '../tasks/tasks.js';
import { choice, flag, number, type Options, text, type Values } from './command.js';

type TaskWithOptions = { [T in Task]: (typeof kTasks)[T] extends { options: unknown } ? T : never }[Task];
type FlagSchema = Readonly<Record<string, { kind: OptionKind; flag?: OptionFlag }>>;

interface Flags<Given> {
  options: Options;
  /** Returns the options that a command line gives. */
  from(values: Values): Given;
}

/** Flags for the options of a schema that have one. `flags` replaces or adds some. `G` is the type of the options. */
export function optionFlags<G extends object>(schema: FlagSchema, flags: { readonly [O in keyof G]?: OptionFlag } = {}): Flags<G> {
  const all = Object.entries(schema).flatMap(([option, { kind, flag: own }]) => {
    const flag = (flags as Record<string, OptionFlag | undefined>)[option] ?? own;
    if (flag === undefined) return [];
    const words = typeof kind === 'string' ? undefined : kind.filter((word) => !flag.except?.includes(word));
    return [{ ...flag, option, name: flag.name ?? option.replaceAll('_', '-'), kind, words }];
  });
  const options = all.map(({ name, kind, words, short, value, help }): [string, Options[string]] => {
    if (kind === 'boolean') return [name, { type: 'boolean', help }];
    const usual = kind === 'number' ? 'n' : words ? 'name' : 'text';
    const listed = words && value === undefined ? `${words.slice(0, -1).join(', ')} or ${words.at(-1)}: ${help}` : help;
    return [name, { type: 'string', ...(short && { short }), value: value ?? usual, help: listed }];
  });
  const read = (values: Values, { name, kind, words, value }: (typeof all)[number]) => {
    if (kind === 'boolean') return flag(values, name) || undefined;
    if (words) return choice(values, name, words);
    return kind === 'number' || value === 'n' ? number(values, name) : text(values, name);
  };
  return {
    options: Object.fromEntries(options),
    from: (values) => given(Object.fromEntries(all.map((one) => [one.option, read(values, one)])) as G),
  };
}

export function taskFlags<T extends TaskWithOptions>(
  task: T,
  flags: { readonly [O in keyof (typeof kTasks)[T]['options']]?: OptionFlag } = {},
): Flags<Given<(typeof kTasks)[T]['options']>> {
  const made = optionFlags(kTasks[task].options as FlagSchema, flags as Record<string, OptionFlag>);
  return made as Flags<Given<(typeof kTasks)[T]['options']>>;
}

export function given<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;
}

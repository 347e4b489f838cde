// The flags of a command for options of a task, or of training. Kinds and words of the options are those of their definition.
import { kTasks, type Task } from '../tasks/tasks.js';
import { choice, flag, number, type Options, text, type Values } from './command.js';
import { given } from './model_options.js';

type TaskWithOptions = { [T in Task]: (typeof kTasks)[T] extends { options: unknown } ? T : never }[Task];
type Kinds<T extends TaskWithOptions> = (typeof kTasks)[T]['options'];
type ValueOf<K> = K extends 'boolean' ? boolean : K extends 'number' ? number : K extends readonly (infer Word)[] ? Word : string;

interface Flag {
  help: string;
  /** Default: the option's name, with hyphens. */
  name?: string;
  short?: string;
  /** Words of the option that the command does not take. */
  except?: readonly string[];
}

interface Flags<Given> {
  options: Options;
  /** Returns the options that a command line gives. */
  from(values: Values): Given;
}

export function taskFlags<T extends TaskWithOptions, O extends keyof Kinds<T>>(
  task: T,
  flags: Record<O, Flag>,
): Flags<{ [K in O]?: ValueOf<Kinds<T>[K]> }> {
  return optionFlags(kTasks[task].options, flags);
}

/** Flags for options of these kinds. `Given` is their type. */
export function optionFlags<Given extends object>(
  kinds: Readonly<Record<string, string | readonly string[]>>,
  flags: Readonly<Record<keyof Given, Flag>>,
): Flags<Given> {
  const all = Object.entries<Flag>(flags).map(([option, { name = option.replaceAll('_', '-'), except = [], help, short }]) => {
    const kind = kinds[option]!;
    const words = typeof kind === 'string' ? undefined : kind.filter((word) => !except.includes(word));
    return { option, name, kind, words, short, help };
  });
  const options = all.map(({ name, kind, words, short, help }): [string, Options[string]] => {
    if (kind === 'boolean') return [name, { type: 'boolean', help }];
    const listed = words ? `${words.slice(0, -1).join(', ')} or ${words.at(-1)}: ${help}` : help;
    return [name, { type: 'string', ...(short && { short }), value: kind === 'number' ? 'n' : words ? 'name' : 'text', help: listed }];
  });
  const read = (values: Values, { name, kind, words }: (typeof all)[number]) => {
    if (kind === 'boolean') return flag(values, name) || undefined;
    if (words) return choice(values, name, words);
    return kind === 'number' ? number(values, name) : text(values, name);
  };
  return {
    options: Object.fromEntries(options),
    from: (values) => given(Object.fromEntries(all.map((one) => [one.option, read(values, one)])) as Given),
  };
}

// Texts and queries must become vectors in the same way: only their prompts may differ.
import { PeruseError, show } from '../errors.js';
import { checkedOptions } from '../tasks/call.js';
import type { EmbedOptions } from './search_types.js';
import { kindOf } from './stores.js';

const kEmbedOptions = { pooling: true, prompt: true, prompt_name: true, task: true, truncation: true, head_mask: true } as const;
type How = Record<string, unknown>;

/** Options for more texts of an index: those of the texts that it has, `known`. Throws if `given` contradicts them. */
export function howToAdd(known: EmbedOptions | undefined, given: EmbedOptions): EmbedOptions {
  const checked = checkedOptions('add', kEmbedOptions, given);
  if (known !== undefined) refuseOthers(known, checked, Object.keys(checked));
  const how = { pooling: 'sentence', ...known, ...checked } as EmbedOptions;
  return kindOf(how) === 'dense' ? how : { task: 'document', ...how };
}

/** Options for a query to texts that were added with `known`. */
export function howToSearch(known: EmbedOptions | undefined, given: EmbedOptions): EmbedOptions {
  const checked = checkedOptions('search', kEmbedOptions, given);
  if (known === undefined) return kindOf(checked) === 'dense' ? checked : { task: 'query', ...checked };
  refuseOthers(known, checked, ['pooling', 'head_mask']);
  const { prompt, prompt_name, task, ...others } = known;
  const named = prompt_name === undefined ? prompt && `prompt ${show(prompt)}` : `prompt_name ${show(prompt_name)}`;
  if (named && checked.prompt === undefined && checked.prompt_name === undefined) {
    const words = `The texts of this index were added with ${named}, and the query has no prompt`;
    throw new PeruseError('invalid_argument', `${words}. Pass prompt_name or prompt for queries, or prompt: '' for none.`);
  }
  return { ...others, ...(task && { task: 'query' }), ...checked };
}

function refuseOthers(known: EmbedOptions, given: How, names: readonly string[]): void {
  const inKnown = (name: string) => (known as How)[name];
  const other = names.find((name) => given[name] !== undefined && JSON.stringify(given[name]) !== JSON.stringify(inKnown(name)));
  if (other === undefined) return;
  const before = inKnown(other) === undefined ? `without ${other}` : `with ${other} ${show(inKnown(other))}`;
  throw new PeruseError('invalid_argument', `The texts of this index were added ${before}; it can't be ${show(given[other])} now.`);
}

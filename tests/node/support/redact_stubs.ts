// redact with stubs of a classifier, so that results are exact.

import { kModelKit } from '../../../web/src/redact/model_kit.js';
import { createRedact } from '../../../web/src/redact/redactor.js';
import type { RedactCall } from '../../../web/src/redact/types.js';
import type { Run } from '../../../web/src/tasks/call.js';
import { type RedactContext, redact as taskRedact } from '../../../web/src/tasks/redact.js';

const loadRedactKit = async () => kModelKit;

/** Without `run` there is no model. */
export function redact(run: Run | undefined, context: Partial<RedactContext> = {}): RedactCall {
  if (run === undefined) return createRedact(undefined, context.defaults ?? {}, loadRedactKit);
  return taskRedact(run, { loadRedactKit, ...context });
}

/** Finds e-mail addresses, numbers and the name Anna, with the space before them, as with DeBERTa's tokenizer. */
export function finder(): { run: Run; asked: { options: Record<string, unknown> } } {
  const asked = { options: {} };
  const run: Run = async (inputs, options) => {
    asked.options = options;
    return inputs.map(({ text }) => {
      const found = [...(text as string).matchAll(/\s?(?:(?<EMAIL>\S+@\S+\w)|(?<CARD>[\d -]*\d)|(?<GIVEN_NAME>Anna))/g)];
      return found.map((match) => {
        const [entity_group] = Object.entries(match.groups!).find(([, value]) => value !== undefined)!;
        return {
          entity_group,
          score: entity_group === 'CARD' ? 0.6 : 0.9,
          word: '',
          start: match.index,
          end: match.index + match[0].length,
        };
      });
    });
  };
  return { run, asked };
}

export function giving(...parts: [string, string][]): Run {
  return async (inputs) =>
    inputs.map(({ text }) =>
      parts.flatMap(([entity_group, part]) => {
        const start = (text as string).indexOf(part);
        return start < 0 ? [] : [{ entity_group, score: 0.9, word: '', start, end: start + part.length }];
      }),
    );
}

// redact: the model that finds private details (web/src/redact has the rest).
import { PeruseError } from '../errors.js';
import type { Detail } from '../redact/details.js';
import { isPersonType } from '../redact/letter_case.js';
import type { ModelKit } from '../redact/model_kit.js';
import { createRedact, type ModelReader } from '../redact/redactor.js';
import { kRedactOptions, kTaggerOptions, type RedactCall, type RedactPipelineOptions } from '../redact/types.js';
import { type CallOptions, callOptions, engineOptions, labelList, type Run } from './call.js';
import type { CallContext, TaskDefinition } from './definition.js';
import { type EntityGroup, tokenClassification } from './token_classification.js';
import { unreadIn } from './unread.js';
import { type LabelledSpan, zeroShotTokenClassification } from './zero_shot_token_classification.js';

callOptions('redact', kRedactOptions);

/** Parts of a pipeline that a call uses in addition to the engine. */
export interface RedactContext extends CallContext {
  defaults?: RedactPipelineOptions;
}

export function redact(run: Run, { defaults = {}, loadRedactKit, tokenizer }: RedactContext): RedactCall {
  const labels = defaults.labels === undefined ? undefined : labelList(defaults.labels, 'labels');
  const reader: ModelReader = {
    settings: (options) => {
      const settings = engineOptions('redact', kRedactOptions, options);
      const [name] = Object.keys(settings).filter((one) => one in kTaggerOptions);
      if (labels === undefined || name === undefined) return settings;
      throw new PeruseError('invalid_argument', `${name} is an option of token classifiers; this model reads labels.`);
    },
    read: async (texts, settings, { threshold, types }, call) => {
      if (labels === undefined) {
        const kit = await loadRedactKit();
        const all = { aggregation_strategy: 'average', windows: true, certainty: true, ...settings };
        const found = await readTwice(run, all, texts, kit, call);
        if (types !== undefined) return found;
        const recall = settings.recall as number | undefined;
        return found.map((lists, index) => lists.map((details) => namesIn(texts[index]!, details, kit, recall)));
      }
      const options = { ...settings, labels, ...(threshold === undefined ? {} : { threshold }) };
      const found = (await run(inputsOf(texts), options, call)) as LabelledSpan[][];
      return found.map((spans) => [spans.map(({ label, score, start, end }) => ({ type: label, score, start, end }))]);
    },
    unread: (texts) => unreadIn(texts, tokenizer),
  };
  return createRedact(reader, defaults, loadRedactKit);
}

function inputsOf(texts: readonly string[]): { text: string }[] {
  return texts.map((text) => ({ text }));
}

/** Reads each text, and if its letter case hides names from the model, a copy with other letter case. */
async function readTwice(
  run: Run,
  settings: Record<string, unknown>,
  texts: readonly string[],
  { recased }: ModelKit,
  call: CallOptions,
): Promise<Detail[][][]> {
  const copies = texts.map(recased);
  const inputs = inputsOf([...texts, ...copies.flatMap((copy) => (copy === undefined ? [] : [copy.text]))]);
  const found = ((await run(inputs, settings, call)) as (EntityGroup & Pick<Detail, 'certainty'>)[][]).map((entities) =>
    entities.map(({ entity_group: type, score, start, end, certainty }) => ({ type, score, start, end, certainty })),
  );
  let next = texts.length; // results of the copies follow those of the texts
  return copies.map((copy, index) => {
    const second = copy === undefined ? [] : (found[next++] ?? []);
    return [found[index]!, copy?.namesOnly ? second.filter(({ type }) => isPersonType(type)) : second];
  });
}

/** Leaves marks and ordinary words out, and function words at the ends of names. */
function namesIn(
  text: string,
  details: readonly Detail[],
  { isOrdinary, withoutFunctionWords, withoutMarks }: ModelKit,
  recall?: number,
): Detail[] {
  return details
    .flatMap((one) => withoutMarks(text, one))
    .flatMap((detail, at, parts) => {
      const beside = [...parts.slice(Math.max(0, at - 1), at), ...parts.slice(at + 1, at + 2)];
      return isOrdinary(text, detail, beside, recall) ? [] : (withoutFunctionWords(text, detail, beside) ?? []);
    });
}

/** The task. It uses a tagger, or with the option `labels` a GLiNER. */
export const redaction = {
  engine: ({ labels }: { labels?: unknown }) => (labels === undefined ? tokenClassification.engine : zeroShotTokenClassification.engine),
  call: redact,
  options: kRedactOptions,
  example: 'iiiorg/piiranha-v1-detect-personal-information',
  withoutModel: 'createRedactor(options) redacts without a model.',
  loadOptions: ['encoder', 'fail_closed', 'finders', 'id2label', 'labels', 'labels_encoder', 'patterns'],
} as const satisfies TaskDefinition;

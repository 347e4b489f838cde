// structured-extraction: fills in a schema from a text, with a GLiNER2 model.

import { type Given, option } from '../options.js';
import { type CallOptions, callOptions, engineOptions, type OneOrMany, plain, type Run } from './call.js';
import type { TaskDefinition } from './definition.js';
import { kWordsOption, wordInputs } from './word_inputs.js';

const kTask = 'structured-extraction';
const kOptions = callOptions(kTask, {
  /** Minimum confidence of values, inclusive; a field's own threshold wins. Default 0.5. */
  threshold: option({ kind: 'number', default: 0.5 }),
  ...kWordsOption,
});

/** Options of structured extraction. */
export interface StructuredExtractionOptions extends CallOptions, Given<typeof kOptions> {}

/** What to look for about an entity type or a relation: a description that the model reads, or settings. */
interface Named {
  description?: string;
  /** Minimum confidence, inclusive. */
  threshold?: number;
}

/** A field of a structure. */
export interface SchemaField extends Named {
  name: string;
  /** `'list'` gives all values, `'str'` the best one or null. Default `'list'`. */
  dtype?: 'list' | 'str';
  /** The only possible values, also if the text does not contain them. Their results are without offsets. */
  choices?: readonly string[];
}

/** A question with given answers. */
export interface SchemaClassification {
  task: string;
  /** Labels, or labels with descriptions. */
  labels: readonly string[] | Readonly<Record<string, string>>;
  /** Whether several labels may be right. Default false. */
  multi_label?: boolean;
  /** For `multi_label`: minimum confidence of a label. Default 0.5. If no label has it, the best one is the result. */
  cls_threshold?: number;
  /** For `multi_label`: maximum number of labels, best first. */
  top_k?: number;
  /** Default `'auto'`: sigmoid with `multi_label`, otherwise softmax. */
  class_act?: 'auto' | 'sigmoid' | 'softmax';
  /** An instruction for the model. */
  prompt?: string;
  /** Texts and their labels. */
  examples?: readonly (readonly [text: string, label: string])[];
}

/** What to extract, in the form of gliner2's `Schema.from_dict`. At least one member. */
export interface ExtractionSchema {
  entities?: readonly string[] | Readonly<Record<string, string | (Named & { dtype?: 'list' | 'str' })>>;
  structures?: Readonly<Record<string, { fields: readonly SchemaField[] }>>;
  relations?: readonly string[] | Readonly<Record<string, string | Named>>;
  classifications?: readonly SchemaClassification[];
}

/** A value in a text. */
export interface ExtractedSpan {
  text: string;
  confidence: number;
  /** UTF-16 indices into the caller's text. */
  start: number;
  end: number;
}

/** A value of a field with `choices`. */
export interface ExtractedChoice {
  text: string;
  confidence: number;
}

/** A label of a classification. */
export interface ExtractedLabel {
  label: string;
  confidence: number;
}

/** Two parts of a text that are related. */
export interface ExtractedRelation {
  head: ExtractedSpan;
  tail: ExtractedSpan;
}

/** A structure that a text contains, by the names of its fields: a list of values, or for `dtype: 'str'` one value or null. */
export type ExtractedStructure = Record<string, ExtractedSpan[] | ExtractedChoice[] | ExtractedSpan | ExtractedChoice | null>;

/** Results by the names in the schema: structures are lists, classifications a label, or a list of labels with `multi_label`. */
export interface ExtractionResult {
  [name: string]:
    | ExtractedStructure[]
    | ExtractedLabel
    | ExtractedLabel[]
    | Record<string, ExtractedSpan[] | ExtractedSpan | null>
    | Record<string, ExtractedRelation[]>
    | undefined;
  /** A list for each entity type, or for `dtype: 'str'` one value or null. */
  entities?: Record<string, ExtractedSpan[] | ExtractedSpan | null>;
  relation_extraction?: Record<string, ExtractedRelation[]>;
}

/** The call of structured extraction. */
export interface StructuredExtractionCall {
  /** Returns what a text contains of the schema: `extract(text, schema)`, or a list for several texts. */
  <I extends string | readonly string[]>(
    texts: I,
    schema: ExtractionSchema,
    options?: StructuredExtractionOptions,
  ): Promise<OneOrMany<I, ExtractionResult>>;
}

/** Levels of objects and lists in a schema, down to the choices of a field. */
const kLevels = 6;

function createCall(run: Run): StructuredExtractionCall {
  const call = async (texts: unknown, schema: unknown, options: StructuredExtractionOptions = {}) => {
    const { inputs, isList, rest } = wordInputs(kOptions, texts, options);
    const settings = { ...engineOptions(kTask, kOptions, rest), schema: plain('schema', schema, kLevels) };
    const results = await run(inputs, settings, options);
    return isList ? results : results[0];
  };
  return call as StructuredExtractionCall;
}

/** The task. */
export const structuredExtraction = {
  engine: { name: kTask },
  call: createCall,
  options: kOptions,
  example: 'fastino/gliner2-base-v1',
} as const satisfies TaskDefinition;

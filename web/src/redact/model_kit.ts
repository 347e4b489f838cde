// The parts of redaction with a model that pages load at the first call (web/bundle/peruse-redact-kit.js). peruse/redact has those of kit.ts alone.
import { withoutFunctionWords } from './function_words.js';
import { kRedactKit } from './kit.js';
import { recased } from './letter_case.js';
import { withoutMarks } from './marks.js';
import { isOrdinary } from './ordinary_words.js';

export const kModelKit = { ...kRedactKit, isOrdinary, recased, withoutFunctionWords, withoutMarks };
export type ModelKit = typeof kModelKit;
export type LoadModelKit = () => Promise<ModelKit>;

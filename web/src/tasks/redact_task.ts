import { kRedactOptions } from '../redact/types.js';
import type { TaskDefinition } from './definition.js';
import { redact } from './redact.js';
import { tokenClassification } from './token_classification.js';
import { zeroShotTokenClassification } from './zero_shot_token_classification.js';

/** The task. It uses a tagger, or with the option `labels` a GLiNER. */
export const redaction = {
  engine: ({ labels }: { labels?: unknown }) => (labels === undefined ? tokenClassification.engine : zeroShotTokenClassification.engine),
  call: redact,
  options: kRedactOptions,
  example: 'iiiorg/piiranha-v1-detect-personal-information',
  loadOptions: ['encoder', 'fail_closed', 'finders', 'id2label', 'labels', 'labels_encoder', 'patterns'],
} as const satisfies TaskDefinition;

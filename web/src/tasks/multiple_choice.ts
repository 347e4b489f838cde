import { type CallOptions, checkString, checkStrings, engineOptions, type Run } from './call.js';
import type { TaskDefinition } from './definition.js';

/** A choice and its score. */
export interface ChoiceScore {
  /** Index of the choice in the caller's list. */
  choice: number;
  /** Probability; those of all choices sum to 1. */
  score: number;
}

/** The call of multiple choice. */
export interface MultipleChoiceCall {
  /** Returns the choices with their scores, best first: `choose(prompt, choices)`. */
  (prompt: string, choices: readonly string[], options?: CallOptions): Promise<ChoiceScore[]>;
}

const kTask = 'multiple-choice';

function createCall(run: Run): MultipleChoiceCall {
  return async (prompt, choices, options = {}) => {
    const settings = engineOptions(kTask, {}, options);
    const input = { prompt: checkString(prompt, 'The prompt'), choices: checkStrings(choices, 'choices') };
    const [scores] = (await run([input], settings, options)) as ChoiceScore[][];
    return scores!;
  };
}

/** The task. */
export const multipleChoice = {
  engine: { name: kTask, classes: ['ForMultipleChoice'] },
  call: createCall,
  oneInput: true,
} as const satisfies TaskDefinition;

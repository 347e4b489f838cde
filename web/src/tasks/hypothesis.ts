/** The default of `hypothesis_template` in zero-shot classification. */
export const kHypothesisTemplate = 'This example is {}.';

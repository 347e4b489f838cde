// Outputs are compared before anything is timed: a fast wrong answer is worth nothing.

const kTolerance = { f32: 1e-4, f16: 5e-3 };  // of the largest output; q8 is reported, and only gross errors are refused
const kGross = 0.5;

/** Largest difference, divided by the spread (root mean square) of the reference's outputs. */
export function normalisedError(actual, expected) {
  if (actual.length !== expected.length) throw new Error(`${actual.length} outputs where the reference has ${expected.length}`);
  const mean = expected.reduce((sum, value) => sum + value, 0) / expected.length;
  const spread = Math.sqrt(expected.reduce((sum, value) => sum + (value - mean) ** 2, 0) / expected.length);
  const largest = Math.max(...expected.map((value, i) => Math.abs(value - actual[i])));
  return largest / (spread || 1);
}

/** Runs the reference and the subject on one text; throws where they differ by more than the precision explains. */
export async function compareOutputs(subject, reference, ids) {
  const outputs = [];
  for (const { ask } of [subject, reference]) {
    await ask('batch', { ids });
    await ask('run', { calls: 1 });
    outputs.push((await ask('logits')).values);
  }
  const error = normalisedError(outputs[0], outputs[1]);
  const limit = kTolerance[subject.dtype] ?? kGross;
  if (!(error <= limit)) throw new Error(`${subject.name} differs from ${reference.name} by ${error.toExponential(1)} of the outputs' spread`);
  return error;
}

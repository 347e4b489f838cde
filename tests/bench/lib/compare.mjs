// Compares outputs before timing: a fast wrong answer is worthless.

const kTolerance = { f32: 1e-4, f16: 5e-3 }; // of the outputs' spread; q8 is reported, and only gross errors are refused
const kGross = 0.5;

/** The largest and the root mean square difference of outputs, divided by the spread of `expected` (root mean square around the mean). */
export function outputErrors(actual, expected) {
  if (actual.length !== expected.length) throw new Error(`${actual.length} outputs where the reference has ${expected.length}`);
  const rms = (values) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);
  const mean = expected.reduce((sum, value) => sum + value, 0) / expected.length;
  const spread = rms(expected.map((value) => value - mean)) || 1;
  const differences = expected.map((value, i) => Math.abs(value - actual[i]));
  return { largest: Math.max(...differences) / spread, rms: rms(differences) / spread };
}

/** Runs both on `texts`, one at a time. Returns the rms error; throws if outputs differ by more than the precision explains. */
export async function compareOutputs(subject, reference, texts) {
  const [actual, expected] = [await logitsOf(subject, texts), await logitsOf(reference, texts)];
  const { largest, rms } = outputErrors(actual, expected);
  const exact = kTolerance[subject.dtype];
  const [error, limit] = exact === undefined ? [rms, kGross] : [largest, exact];
  if (!(error <= limit))
    throw new Error(`${subject.name} differs from ${reference.name} by ${error.toExponential(1)} of the outputs' spread`);
  return rms;
}

const kept = new WeakMap();

async function logitsOf(subject, texts) {
  if (kept.has(subject)) return kept.get(subject);
  const logits = [];
  for (const text of texts) {
    await subject.ask('batch', { ids: [text] });
    await subject.ask('run', { calls: 1 });
    logits.push(...(await subject.ask('logits')).values);
  }
  kept.set(subject, logits);
  return logits;
}

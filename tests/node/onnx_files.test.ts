// ONNX files of all families, heads, exporters and types: Peruse's results with float activations equal onnxruntime's on the same file.
// With PERUSE_ONNX_FILES=folder the test reads what tests/reference/make_onnx_files.py has written there; refused files are skipped.
import { describe, expect, test } from 'vitest';
import { PeruseError, pipeline } from '../../web/dist/index_node.js';
import { onnxRepository, readExpected } from './support/onnx_files.js';
import { tinyText } from './support/tiny.js';

const kRoot = process.env.PERUSE_ONNX_FILES;
const { ids, files: expected } = await readExpected(kRoot);

const kTasks: readonly (readonly [ending: string, task: string])[] = [
  ['ForSequenceClassification', 'text-classification'],
  ['ForTokenClassification', 'token-classification'],
  ['ForQuestionAnswering', 'question-answering'],
  ['ForMaskedLM', 'fill-mask'],
  ['ForMultipleChoice', 'multiple-choice'],
  ['ForPreTraining', 'replaced-token-detection'],
  ['Model', 'feature-extraction'],
];

async function resultsOf(name: string): Promise<ArrayLike<number>> {
  const file = name.split('/')[1]!;
  const files = await onnxRepository(name, file, kRoot);
  const { architectures } = JSON.parse(new TextDecoder().decode(files['config.json'])) as { architectures: [string] };
  const task = kTasks.find(([ending]) => architectures[0].endsWith(ending))![1] as 'text-classification';
  const run = await pipeline(task, files, { worker: false, weights: 'onnx', dtype: 'fp32', model_file_name: file.replace(/\.onnx$/, '') });
  try {
    const isBare = (task as string) === 'feature-extraction';
    const { logits, hidden_states: hidden } = await run.inspect(tinyText(ids), { output_logits: !isBare, output_hidden_states: isBare });
    return (isBare ? hidden!.at(-1)! : logits!).data;
  } finally {
    await run.dispose();
  }
}

function boundOf(name: string): number {
  // The positions of these files have the layer's weights as floats; Peruse uses the integers.
  if (/deberta-v2.*(opset1\d_|_unslimmed|(optimum|sentence_mean|O\d)_quantized)/.test(name)) return 0.05;
  // onnxruntime computes with the weights before they become float16, and O3 and O4 approximate GELU.
  return /fp?16|_O[34]/.test(name.split('/')[1]!) ? 2e-2 : 3e-5;
}

describe("onnxruntime's results", () => {
  test.for(Object.keys(expected))('%s', async (name, { skip }) => {
    let own: ArrayLike<number>;
    try {
      own = await resultsOf(name);
    } catch (error) {
      if (!kRoot || !(error instanceof PeruseError) || error.code !== 'unsupported') throw error;
      return skip(error.message);
    }
    const { logits } = expected[name]!;
    const largest = Math.max(1, ...logits.map(Math.abs));
    expect(own.length).toBe(logits.length);
    const bound = boundOf(name) * largest;
    const worst = Math.max(...logits.map((value, index) => Math.abs(value - own[index]!)));
    expect(worst, `largest ${largest}`).toBeLessThan(bound);
  });
});

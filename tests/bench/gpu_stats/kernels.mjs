// The pipelines that gpu_stats.mjs compiles: those that take most of the time in a model of typical size.
import { readFileSync } from 'node:fs';
import { shaders } from '../../node/gpu/shader_names.mjs';

const kRecorder = new URL('../../../core/backend/webgpu/recorder.cc', import.meta.url);

/** The text that the recorder puts before a shader whose name ends with `suffix`. */
function prelude(suffix) {
  const strings = /^\{"(\+?[a-z0-9]*)",\s*((?:"(?:[^"\\]|\\.)*"\s*)*)\}/;
  for (const entry of readFileSync(kRecorder, 'utf8').split(/(?=\{"\+?[a-z0-9]*",)/)) {
    const found = strings.exec(entry);
    if (found?.[1] === suffix) return (found[2].match(/"(?:[^"\\]|\\.)*"/g) ?? []).map((text) => JSON.parse(text)).join('');
  }
  throw new Error(`recorder.cc has no text for "${suffix}"`);
}

const kTiles = [
  [64, 8],
  [32, 8],
  [16, 4],
];

const kFormats = [
  ['linear_aligned', '', { HALF_WEIGHTS: 0 }, 'fp32'],
  ['linear_aligned', '', { HALF_WEIGHTS: 1 }, 'fp16'],
  ['linear_q8', '+dot4', { WIDE: 0 }, 'q8'],
];

export function kernels() {
  const texts = new Map([...shaders()].map(([text, name]) => [name, text]));
  const kernel = (name, shader, constants, suffix = '') => ({ name, code: prelude(suffix) + texts.get(shader), constants });
  const products = kFormats.flatMap(([shader, suffix, constants, format]) =>
    kTiles.map(([rows, threadRows]) =>
      kernel(`linear ${rows}x64 ${format}`, shader, { TILE_ROWS: rows, ROWS: threadRows, ...constants }, suffix),
    ),
  );
  const spans = kFormats.map(([, , constants, format]) =>
    kernel(`linear_span_conv ${format}`, 'linear_span_conv', {
      TAPS: 9,
      HALF_WEIGHTS: constants.HALF_WEIGHTS ?? 0,
      INT8_WEIGHTS: format === 'q8' ? 1 : 0,
    }),
  );
  const others = ['norm', 'quantize_rows', 'depthwise_conv'].map((name) => kernel(name, name, {}));
  return [...products, kernel('attention', 'attention_aligned', {}), ...spans, ...others];
}

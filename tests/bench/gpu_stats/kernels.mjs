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

/** As in tiles.cc: rows and columns of a tile, and rows and columns of a thread. */
const kUsualTiles = [
  [64, 64, 8, 4],
  [32, 64, 8, 4],
  [16, 64, 4, 4],
];

/** By vendor. */
const kTiles = {
  amd: [[64, 128, 8, 8], ...kUsualTiles],
  intel: [
    [32, 32, 4, 4],
    [16, 64, 4, 4],
  ],
};

const kFormats = [
  ['linear_aligned', '', { HALF_WEIGHTS: 0 }, 'fp32'],
  ['linear_aligned', '', { HALF_WEIGHTS: 1 }, 'fp16'],
  ['linear_q8', '+dot4', { WIDE: 0 }, 'q8'],
];

/** The conditions of a product's epilogue, for a tile that is inside the output and a layer with a bias alone. */
const kPlain = {
  'params.activation': '0u',
  'params.combine': '0u',
  'params.has_bias': '1u',
  'rows.w < params.rows && columns.w < params.width': 'true',
};

/** A kernel whose epilogue does nothing but add the bias and write; its row counts as the column `epilogue` of `kernel`'s row. */
function plain(kernel) {
  let { code } = kernel;
  for (const [condition, value] of Object.entries(kPlain)) {
    if (!code.includes(condition)) throw new Error(`${kernel.name} has no "${condition}"`);
    code = code.replaceAll(condition, value);
  }
  return { ...kernel, name: `${kernel.name} epilogue`, code };
}

export function kernels(vendor) {
  const FEW_REGISTERS = Number(vendor === 'intel');
  const texts = new Map([...shaders()].map(([text, name]) => [name, text]));
  const kernel = (name, shader, constants, suffix = '') => ({ name, code: prelude(suffix) + texts.get(shader), constants });
  const products = kFormats.flatMap(([shader, suffix, constants, format]) =>
    (kTiles[vendor] ?? kUsualTiles).map(([TILE_ROWS, TILE_COLUMNS, ROWS, COLUMNS]) =>
      kernel(
        `linear ${TILE_ROWS}x${TILE_COLUMNS} ${format}`,
        shader,
        { TILE_ROWS, TILE_COLUMNS, ROWS, COLUMNS, FEW_REGISTERS, ...constants },
        suffix,
      ),
    ),
  );
  const spans = [
    kernel('linear_span_conv fp32', 'linear_span_conv', { TAPS: 9, FEW_REGISTERS, HALF_WEIGHTS: 0 }),
    kernel('linear_span_conv fp16', 'linear_span_conv', { TAPS: 9, FEW_REGISTERS, HALF_WEIGHTS: 1 }),
  ];
  const others = ['norm', 'norm_subgroups', 'quantize_rows', 'depthwise_conv'].map((name) => kernel(name, name, {}));
  return [
    ...products,
    ...products.map(plain),
    kernel('attention', 'attention_aligned', {}, FEW_REGISTERS ? '+two' : '+four'),
    ...spans,
    ...others,
  ];
}

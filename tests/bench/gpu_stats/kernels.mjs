// The pipelines that gpu_stats.mjs compiles: those that take most of the time in a model of typical size.
import { readFileSync } from 'node:fs';
import { shaders } from '../../node/gpu/shader_names.mjs';

const kTiles = new URL('../../../core/backend/webgpu/tiles.cc', import.meta.url);
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

/** The parameters of tiles.cc for GPUs of this vendor. Tiles are rows and columns of a workgroup, then of a thread. */
function tuningFor(vendor) {
  const text = readFileSync(kTiles, 'utf8');
  const found = (pattern) => {
    const match = new RegExp(pattern).exec(text);
    if (!match) throw new Error(`tiles.cc has no ${pattern}`);
    return match.slice(1);
  };
  const known = new RegExp(`vendor == "${vendor}"\\) return (\\w+);`).exec(text);
  const [name] = known ? [known[1]] : found('\n  return (kUsual);');
  const [tiles, fewRegisters, spanStep] = found(`Tuning ${name} = \\{(\\w+), \\d+, (true|false), (\\d+)\\};`);
  const [shapes] = found(`TileShape ${tiles}\\[\\] = \\{\\{([0-9, {}]+)\\}\\};`);
  return {
    tiles: shapes.split('}, {').map((shape) => shape.split(', ').map(Number)),
    FEW_REGISTERS: Number(fewRegisters === 'true'),
    STEP: Number(spanStep),
  };
}

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
  const { tiles, FEW_REGISTERS, STEP } = tuningFor(vendor);
  const texts = new Map([...shaders()].map(([text, name]) => [name, text]));
  const kernel = (name, shader, constants, suffix = '') => ({ name, code: prelude(suffix) + texts.get(shader), constants });
  const products = kFormats.flatMap(([shader, suffix, constants, format]) =>
    tiles.map(([TILE_ROWS, TILE_COLUMNS, ROWS, COLUMNS]) =>
      kernel(
        `linear ${TILE_ROWS}x${TILE_COLUMNS} ${format}`,
        shader,
        { TILE_ROWS, TILE_COLUMNS, ROWS, COLUMNS, FEW_REGISTERS, ...constants },
        suffix,
      ),
    ),
  );
  const spans = [
    kernel('linear_span_conv fp32', 'linear_span_conv', { TAPS: 9, STEP, FEW_REGISTERS, HALF_WEIGHTS: 0 }),
    kernel('linear_span_conv fp16', 'linear_span_conv', { TAPS: 9, STEP, FEW_REGISTERS, HALF_WEIGHTS: 1 }),
  ];
  const others = ['norm', 'norm_subgroups', 'quantize_rows', 'depthwise_conv'].map((name) => kernel(name, name, {}));
  return [
    ...products,
    ...products.map(plain),
    kernel('attention', 'attention_aligned', {}, FEW_REGISTERS ? '+two' : '+four'),
    kernel('attention of other widths', 'attention', {}, FEW_REGISTERS ? '+two' : '+four'),
    ...spans,
    ...others,
  ];
}

// out[r] pools the rows begins[r] + j stride, j < counts[r], of x, viewed as rows of out's width (core/ops/pool_rows.h).
const THREADS = 64u;

// PoolRows::Kind
const MEAN = 1u;
const MAX = 2u;
const ABS_MEAN = 3u;
const ABS_MAX = 4u;
const ROOT_MEAN_SQUARE = 5u;

struct Params {
  rows: u32,
  columns: u32,
  blocks: u32,
  stride: u32,
  kind: u32,
  x_first: u32,
  x_stride: u32,
  out_first: u32,
  out_stride: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> begins: array<u32>;
@group(0) @binding(3) var<storage, read> counts: array<u32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
  let kind = params.kind;
  for (var e = id.x; e < params.rows * params.columns; e += workgroups.x * THREADS) {
    let row = e / params.columns;
    let c = e % params.columns;
    let count = counts[row];
    var result = 0.0;
    for (var j = 0u; j < count; j++) {
      let source = begins[row] + j * params.stride;
      var value = x[params.x_first + source / params.blocks * params.x_stride + source % params.blocks * params.columns + c];
      if (kind == ABS_MEAN || kind == ABS_MAX) { value = abs(value); }
      if (kind == ROOT_MEAN_SQUARE) { value = value * value; }
      if (kind == MAX || kind == ABS_MAX) {
        result = select(max(result, value), value, j == 0u);
      } else {
        result += value;
      }
    }
    if (count > 0u && (kind == MEAN || kind == ABS_MEAN || kind == ROOT_MEAN_SQUARE)) { result /= f32(count); }
    if (kind == ROOT_MEAN_SQUARE) { result = sqrt(result); }
    out[params.out_first + row * params.out_stride + c] = result;
  }
}

// ConvBERT's span-based dynamic convolution fused with the linear layer of its kernels: the logits are
// x w^T + bias, their softmax over each head's taps is the kernel, and
// out[t, c] = sum_j kernel[t, head(c), j] values[t + j - (TAPS - 1) / 2, c]; taps outside the sequence add zero.
// Workgroup: (tile of TOKENS tokens, head, sequence). Logits and kernels stay in the workgroup.
//
// For int8 weights x contains scales followed by integers (quantize_rows.wgsl). Sums of their products are exact in float32 below 2^24
// (gpu_format.cc).
#include "weights.wgsl"

override TAPS: u32 = 9u;  // at most 63: TAPS * ROW vec4s and TOKENS * TAPS floats of workgroup memory

const THREADS = 64u;
const TOKENS = 16u;
const QUADS = 8u;         // vec4s along k in a tile
const ROW = QUADS + 1u;   // padded against bank conflicts

struct Params {
  depth: u32,             // k
  x_first: u32,           // in elements, like the next two
  x_stride: u32,
  w_stride: u32,
  values_first: u32,
  values_stride: u32,
  out_first: u32,
  out_stride: u32,
  head_dim: u32,
  scales_first: u32,      // first scale of int8 weights, in `bias`
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<u32>;
@group(0) @binding(3) var<storage, read> w: array<u32>;
@group(0) @binding(4) var<storage, read> bias: array<f32>;
@group(0) @binding(5) var<storage, read> values: array<f32>;
@group(0) @binding(6) var<storage, read_write> out: array<f32>;

var<workgroup> x_tile: array<vec4f, TOKENS * ROW>;
var<workgroup> w_tile: array<vec4f, TAPS * ROW>;
var<workgroup> kernels: array<f32, TOKENS * TAPS>;  // logits first

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  let start = starts[workgroup.z];
  let length = starts[workgroup.z + 1u] - start;
  let first = workgroup.x * TOKENS;
  if (first >= length) { return; }
  let tokens = min(TOKENS, length - first);
  let head = workgroup.y;

  let x_first = params.x_first + (start + first) * params.x_stride;
  for (var e = thread; e < TOKENS * TAPS; e += THREADS) { kernels[e] = 0.0; }
  for (var k0 = 0u; k0 < params.depth; k0 += 4u * QUADS) {
    workgroupBarrier();
    for (var e = thread; e < TOKENS * QUADS; e += THREADS) {
      let m = e / QUADS;
      let k = k0 + 4u * (e % QUADS);
      let count = select(0u, params.depth - min(k, params.depth), m < tokens);
      x_tile[m * ROW + e % QUADS] = elements_of_x(x_first + m * params.x_stride + k, count);
    }
    for (var e = thread; e < TAPS * QUADS; e += THREADS) {
      let n = e / QUADS;
      let k = k0 + 4u * (e % QUADS);
      w_tile[n * ROW + e % QUADS] = elements_of_w((head * TAPS + n) * params.w_stride + k, params.depth - min(k, params.depth));
    }
    workgroupBarrier();
    for (var e = thread; e < TOKENS * TAPS; e += THREADS) {
      var sum = kernels[e];
      for (var q = 0u; q < QUADS; q++) { sum += dot(x_tile[e / TAPS * ROW + q], w_tile[e % TAPS * ROW + q]); }
      kernels[e] = sum;
    }
  }
  workgroupBarrier();
  for (var e = thread; e < TOKENS * TAPS; e += THREADS) {
    let column = head * TAPS + e % TAPS;
    var sum = kernels[e];
    if (INT8_WEIGHTS) { sum *= bitcast<f32>(x[start + first + min(e / TAPS, tokens - 1u)]) * bias[params.scales_first + column]; }
    kernels[e] = sum + bias[column];
  }
  workgroupBarrier();
  if (thread < tokens) {
    let row = thread * TAPS;
    var highest = kernels[row];
    for (var j = 1u; j < TAPS; j++) { highest = max(highest, kernels[row + j]); }
    var sum = 0.0;
    for (var j = 0u; j < TAPS; j++) {
      let weight = exp(kernels[row + j] - highest);
      kernels[row + j] = weight;
      sum += weight;
    }
    for (var j = 0u; j < TAPS; j++) { kernels[row + j] /= sum; }
    // Compilers may replace the softmax of one logit by 1, even of NaN.
    if (TAPS == 1u) { kernels[row] = select(select(highest, 1.0, highest < 1.0), 1.0, highest > 1.0); }
  }
  workgroupBarrier();
  for (var e = thread; e < tokens * params.head_dim; e += THREADS) {
    let t = e / params.head_dim;
    let column = head * params.head_dim + e % params.head_dim;
    var sum = 0.0;
    for (var j = 0u; j < TAPS; j++) {
      let shifted = first + t + j;  // the source token, plus half a kernel
      if (shifted < TAPS / 2u || shifted - TAPS / 2u >= length) { continue; }
      let source = start + shifted - TAPS / 2u;
      sum += kernels[t * TAPS + j] * values[params.values_first + source * params.values_stride + column];
    }
    out[params.out_first + (start + first + t) * params.out_stride + column] = sum;
  }
}

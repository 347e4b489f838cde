// ConvBERT's span-based dynamic convolution fused with the linear layer of its kernels: the logits are
// x w^T + bias, their softmax over each head's taps is the kernel, and
// out[t, c] = sum_j kernel[t, head(c), j] values[t + j - (TAPS - 1) / 2, c]; taps outside the sequence add zero.
// Workgroup: (tile of TOKENS tokens, head, sequence). Logits and kernels stay in the workgroup.
//
// A thread computes the products of four tokens and five taps with every eighth part of the depth, in registers: 160 multiply-adds for the
// 18 vec4s of a part. With few registers it computes three taps. The parts are added in workgroup memory. All loads are unconditional; tokens
// and taps outside repeat the last one.
//
// The depth is a multiple of 16, and rows of x are at multiples of four.
#include "quads.wgsl"
#include "float_rows.wgsl"
#include "linear_float.wgsl"

override FEW_REGISTERS: bool = false;
override TAPS: u32 = 9u;  // at most 63: TOKENS * TAPS floats of workgroup memory

const THREADS = 64u;
const TOKENS = 16u;
const PARTS = 8u;
override OWN_TAPS: u32 = select(5u, 3u, FEW_REGISTERS);  // taps of a thread
override ALL_TAPS: u32 = 2u * OWN_TAPS;                  // taps of all threads

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
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4f>;
@group(0) @binding(3) var<storage, read> w: array<vec4u>;
@group(0) @binding(4) var<storage, read> bias: array<f32>;
@group(0) @binding(5) var<storage, read> values: array<f32>;
@group(0) @binding(6) var<storage, read_write> out: array<f32>;

var<workgroup> partial: array<vec4f, ALL_TAPS * TOKENS / 4u * PARTS>;
var<workgroup> kernels: array<f32, TOKENS * TAPS>;  // logits first

struct Part {
  x: array<vec4f, 4>,  // of four tokens
  y: array<vec4f, 4>,  // the next four along k
  w: array<Eight, 5>,
}

// Half of load_w.
fn quad_of_w(row: u32, k: u32) -> vec4f {
  if (!HALF_WEIGHTS) { return bitcast<vec4f>(w[(row + k) / 4u]); }
  let eight = w[(row + k) / 8u];
  let half = select(eight.xy, eight.zw, (row + k) % 8u == 4u);
  return vec4f(unpack2x16float(half.x), unpack2x16float(half.y));
}

fn load_part(x_rows: vec4u, w_rows: array<u32, 5>, k: u32) -> Part {
  let next = k + 4u;
  return Part(array<vec4f, 4>(load_x(x_rows.x, k), load_x(x_rows.y, k), load_x(x_rows.z, k), load_x(x_rows.w, k)),
              array<vec4f, 4>(load_x(x_rows.x, next), load_x(x_rows.y, next), load_x(x_rows.z, next), load_x(x_rows.w, next)),
              array<Eight, 5>(load_w(w_rows[0], k), load_w(w_rows[1], k), load_w(w_rows[2], k), load_w(w_rows[3], k),
                              load_w(w_rows[4], k)));
}

fn add_part(p: Part, w: Eight, before: vec4f) -> vec4f {
  return add_quads(upper(w), p.y[0], p.y[1], p.y[2], p.y[3], add_quads(lower(w), p.x[0], p.x[1], p.x[2], p.x[3], before));
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  let start = starts[workgroup.z];
  let length = starts[workgroup.z + 1u] - start;
  let first = workgroup.x * TOKENS;
  if (first >= length) { return; }
  let tokens = min(TOKENS, length - first);
  let head = workgroup.y;

  let part = thread % PARTS;
  let four = thread / PARTS % 4u;  // tokens 4 * four, ...
  let own = thread / 32u * OWN_TAPS;  // taps own, ...
  let rows = start + min(vec4u(first + 4u * four) + vec4u(0u, 1u, 2u, 3u), vec4u(length - 1u));
  let x_rows = params.x_first + rows * params.x_stride;
  for (var tap = 0u; tap < TAPS; tap += ALL_TAPS) {
    let near = head * TAPS + min(vec4u(tap + own) + vec4u(0u, 1u, 2u, 3u), vec4u(TAPS - 1u));
    let fifth = head * TAPS + min(tap + own + 4u, TAPS - 1u);
    let w_rows = array<u32, 5>(near.x * params.w_stride, near.y * params.w_stride, near.z * params.w_stride,
                               near.w * params.w_stride, fifth * params.w_stride);
    var sums = array<vec4f, 5>();  // every index is a literal
    for (var k = 8u * part; k < params.depth; k += 8u * PARTS) {
      if (FEW_REGISTERS) {
        // Four along k at a time, and one tap after the other.
        for (var half = 0u; half < 8u && k + half < params.depth; half += 4u) {
          let x0 = load_x(x_rows.x, k + half);
          let x1 = load_x(x_rows.y, k + half);
          let x2 = load_x(x_rows.z, k + half);
          let x3 = load_x(x_rows.w, k + half);
          sums[0] = add_quads(quad_of_w(w_rows[0], k + half), x0, x1, x2, x3, sums[0]);
          sums[1] = add_quads(quad_of_w(w_rows[1], k + half), x0, x1, x2, x3, sums[1]);
          sums[2] = add_quads(quad_of_w(w_rows[2], k + half), x0, x1, x2, x3, sums[2]);
        }
        continue;
      }
      let loaded = load_part(x_rows, w_rows, k);
      sums[0] = add_part(loaded, loaded.w[0], sums[0]);
      sums[1] = add_part(loaded, loaded.w[1], sums[1]);
      sums[2] = add_part(loaded, loaded.w[2], sums[2]);
      sums[3] = add_part(loaded, loaded.w[3], sums[3]);
      sums[4] = add_part(loaded, loaded.w[4], sums[4]);
    }
    let place = (own * 4u + four) * PARTS + part;
    partial[place] = sums[0];
    partial[place + 4u * PARTS] = sums[1];
    partial[place + 8u * PARTS] = sums[2];
    if (!FEW_REGISTERS) {
      partial[place + 12u * PARTS] = sums[3];
      partial[place + 16u * PARTS] = sums[4];
    }
    workgroupBarrier();
    let sum_tap = tap + thread / 4u;
    if (thread < ALL_TAPS * 4u && sum_tap < TAPS) {
      var sum = partial[thread * PARTS];
      for (var p = 1u; p < PARTS; p++) { sum += partial[thread * PARTS + p]; }
      let column = head * TAPS + sum_tap;
      let logits = sum + bias[column];
      let to = 4u * (thread % 4u) * TAPS + sum_tap;
      kernels[to] = logits.x;
      kernels[to + TAPS] = logits.y;
      kernels[to + 2u * TAPS] = logits.z;
      kernels[to + 3u * TAPS] = logits.w;
    }
    workgroupBarrier();
  }
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

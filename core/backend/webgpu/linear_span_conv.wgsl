// ConvBERT's span-based dynamic convolution fused with the linear layer of its kernels: the logits are
// x w^T + bias, their softmax over each head's taps is the kernel, and
// out[t, c] = sum_j kernel[t, head(c), j] values[t + j - (TAPS - 1) / 2, c]; taps outside the sequence add zero.
// Workgroup: (tile of TOKENS tokens, head, sequence). Logits and kernels stay in the workgroup.
//
// The logits of TOKENS tokens and OWN_TAPS taps are a product in tiles along the depth. A thread multiplies four tokens and all these taps
// with every 16th vec4 of the depth. It reads the taps' vec4s from workgroup memory, and keeps its tokens' vec4s, which no other thread needs, in
// registers. The 16 parts are added in workgroup memory. As in linear_tile.wgsl, a thread loads its share of the next tile while the current
// one is multiplied, or with FEW_REGISTERS just before it is stored; tokens and taps outside repeat the last one.
//
// Rows of x are at multiples of four. The depth is a multiple of 16, and without RAGGED of STEP.
#include "quads.wgsl"
#include "float_rows.wgsl"
#include "linear_float.wgsl"

override FEW_REGISTERS: bool = false;
override TAPS: u32 = 9u;   // at most 63: TOKENS * TAPS floats of workgroup memory
override STEP: u32 = 64u;  // depth of a tile: 64, or without FEW_REGISTERS and RAGGED 128
override RAGGED: bool = false;

const THREADS = 64u;
const TOKENS = 16u;
const PARTS = 16u;
override OWN_TAPS: u32 = select(9u, 3u, FEW_REGISTERS);
override PITCH: u32 = STEP / 4u;             // of tile, in vec4s
override W_ROWS: u32 = 8u * THREADS / STEP;  // rows of w that a thread loads are this far apart
const ADDED_TAPS = 5u;                       // taps whose parts fit into `tile` together
const PARTS_PITCH = PARTS + 1u;              // padded against bank conflicts

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

// Up to 16 rows of w along k, then parts of logits.
var<workgroup> tile: array<vec4f, 384>;
var<workgroup> kernels: array<f32, TOKENS * TAPS>;  // logits first

fn x_at(at: vec4u) -> array<vec4f, 4> {
  return array<vec4f, 4>(x[at.x], x[at.y], x[at.z], x[at.w]);
}

fn add_quad(w: vec4f, x: array<vec4f, 4>, before: vec4f) -> vec4f {
  return add_quads(w, x[0], x[1], x[2], x[3], before);
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
  let four = thread / PARTS;  // tokens 4 * four, ...
  let rows = start + min(vec4u(first + 4u * four) + vec4u(0u, 1u, 2u, 3u), vec4u(length - 1u));
  let x_first = (params.x_first + rows * params.x_stride) / 4u + part;
  let w_row = thread / (STEP / 8u);
  let w_k = thread % (STEP / 8u) * 8u;
  let w_place = w_row * PITCH + w_k / 4u;
  let last = (params.depth - 1u) / STEP * STEP;
  for (var tap = 0u; tap < TAPS; tap += OWN_TAPS) {
    let near = min(vec3u(tap + w_row) + vec3u(0u, 1u, 2u) * W_ROWS, vec3u(TAPS - 1u));
    let w_rows = (head * TAPS + near) * params.w_stride + w_k;
    var sums = array<vec4f, 9>();  // every index is a literal
    var x_next = x_at(x_first);
    var y_next = array<vec4f, 4>();
    if (STEP == 128u) { y_next = x_at(x_first + PARTS); }
    var w0 = load_w(w_rows.x, 0u);
    var w1 = load_w(w_rows.y, 0u);
    var w2 = Eight();
    if (STEP == 128u) { w2 = load_w(w_rows.z, 0u); }
    for (var k = 0u; k < params.depth; k += STEP) {
      if (FEW_REGISTERS) {
        x_next = x_at(x_first + k / 4u);
        w0 = load_w(w_rows.x, k);
      }
      if (RAGGED && k == last) {
        if (k + 4u * part >= params.depth) { x_next = array<vec4f, 4>(); }
        if (k + w_k >= params.depth) {
          w0 = Eight();
          w1 = Eight();
        }
      }
      workgroupBarrier();
      tile[w_place] = lower(w0);
      tile[w_place + 1u] = upper(w0);
      if (!FEW_REGISTERS) {
        tile[w_place + W_ROWS * PITCH] = lower(w1);
        tile[w_place + W_ROWS * PITCH + 1u] = upper(w1);
      }
      if (STEP == 128u) {
        tile[w_place + 2u * W_ROWS * PITCH] = lower(w2);
        tile[w_place + 2u * W_ROWS * PITCH + 1u] = upper(w2);
      }
      workgroupBarrier();
      let next = min(k + STEP, last);
      if (!FEW_REGISTERS) {
        w0 = load_w(w_rows.x, next);
        w1 = load_w(w_rows.y, next);
      }
      if (STEP == 128u) { w2 = load_w(w_rows.z, next); }
      sums[0] = add_quad(tile[part], x_next, sums[0]);
      sums[1] = add_quad(tile[part + 1u * PITCH], x_next, sums[1]);
      sums[2] = add_quad(tile[part + 2u * PITCH], x_next, sums[2]);
      if (!FEW_REGISTERS) {
        sums[3] = add_quad(tile[part + 3u * PITCH], x_next, sums[3]);
        sums[4] = add_quad(tile[part + 4u * PITCH], x_next, sums[4]);
        sums[5] = add_quad(tile[part + 5u * PITCH], x_next, sums[5]);
        sums[6] = add_quad(tile[part + 6u * PITCH], x_next, sums[6]);
        sums[7] = add_quad(tile[part + 7u * PITCH], x_next, sums[7]);
        sums[8] = add_quad(tile[part + 8u * PITCH], x_next, sums[8]);
      }
      if (!FEW_REGISTERS) { x_next = x_at(x_first + next / 4u); }
      if (STEP == 128u) {
        sums[0] = add_quad(tile[part + PARTS], y_next, sums[0]);
        sums[1] = add_quad(tile[part + PARTS + 1u * PITCH], y_next, sums[1]);
        sums[2] = add_quad(tile[part + PARTS + 2u * PITCH], y_next, sums[2]);
        sums[3] = add_quad(tile[part + PARTS + 3u * PITCH], y_next, sums[3]);
        sums[4] = add_quad(tile[part + PARTS + 4u * PITCH], y_next, sums[4]);
        sums[5] = add_quad(tile[part + PARTS + 5u * PITCH], y_next, sums[5]);
        sums[6] = add_quad(tile[part + PARTS + 6u * PITCH], y_next, sums[6]);
        sums[7] = add_quad(tile[part + PARTS + 7u * PITCH], y_next, sums[7]);
        sums[8] = add_quad(tile[part + PARTS + 8u * PITCH], y_next, sums[8]);
        y_next = x_at(x_first + next / 4u + PARTS);
      }
    }
    for (var added = 0u; added < OWN_TAPS; added += ADDED_TAPS) {
      workgroupBarrier();
      let place = four * PARTS_PITCH + part;
      tile[place] = sums[0];
      tile[place + 4u * PARTS_PITCH] = sums[1];
      tile[place + 8u * PARTS_PITCH] = sums[2];
      tile[place + 12u * PARTS_PITCH] = sums[3];
      tile[place + 16u * PARTS_PITCH] = sums[4];
      workgroupBarrier();
      let sum_tap = tap + added + thread / 4u;
      if (thread < ADDED_TAPS * 4u && added + thread / 4u < OWN_TAPS && sum_tap < TAPS) {
        var sum = tile[thread * PARTS_PITCH];
        for (var p = 1u; p < PARTS; p++) { sum += tile[thread * PARTS_PITCH + p]; }
        let column = head * TAPS + sum_tap;
        let logits = sum + bias[column];
        let to = 4u * (thread % 4u) * TAPS + sum_tap;
        kernels[to] = logits.x;
        kernels[to + TAPS] = logits.y;
        kernels[to + 2u * TAPS] = logits.z;
        kernels[to + 3u * TAPS] = logits.w;
      }
      sums[0] = sums[5];
      sums[1] = sums[6];
      sums[2] = sums[7];
      sums[3] = sums[8];
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
  // Places of values, half a kernel later.
  let lowest = TAPS / 2u * params.values_stride;
  let highest = (length - 1u) * params.values_stride + lowest;
  for (var e = thread; e < tokens * params.head_dim; e += THREADS) {
    let t = e / params.head_dim;
    let column = head * params.head_dim + e % params.head_dim;
    let base = params.values_first + start * params.values_stride + column - lowest;
    var sum = 0.0;
    for (var j = 0u; j < TAPS; j++) {
      let at = (first + t) * params.values_stride + j * params.values_stride;
      let near = clamp(at, lowest, highest);
      sum += select(0.0, kernels[t * TAPS + j] * values[base + near], at == near);
    }
    out[params.out_first + (start + first + t) * params.out_stride + column] = sum;
  }
}

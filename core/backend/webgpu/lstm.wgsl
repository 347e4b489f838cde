// One direction of an LSTM (core/ops/lstm.h): one workgroup processes row after row, each thread some columns.
#include "activation.wgsl"

const THREADS = 256u;
const MOST_COLUMNS = 1024u;

struct Params {
  rows: u32,
  width: u32,
  reverse: u32,
  gates_first: u32,
  gates_stride: u32,
  recurrent_first: u32,
  recurrent_stride: u32,
  bias_first: u32,
  out_first: u32,
  out_stride: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> gates: array<f32>;
@group(0) @binding(2) var<storage, read> recurrent: array<f32>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

var<workgroup> h: array<f32, MOST_COLUMNS>;
var<workgroup> next: array<f32, MOST_COLUMNS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(local_invocation_index) thread: u32) {
  let width = params.width;
  var c: array<f32, MOST_COLUMNS / THREADS>;
  for (var k = thread; k < width; k += THREADS) { h[k] = 0.0; }
  workgroupBarrier();
  for (var step = 0u; step < params.rows; step++) {
    let t = select(step, params.rows - 1u - step, params.reverse != 0u);
    for (var k = thread; k < width; k += THREADS) {
      var sums: vec4f;  // i, f, g, o
      for (var gate = 0u; gate < 4u; gate++) {
        let j = gate * width + k;
        var sum = gates[params.gates_first + t * params.gates_stride + j] + bias[params.bias_first + j];
        for (var i = 0u; i < width; i++) {
          sum += h[i] * recurrent[params.recurrent_first + i * params.recurrent_stride + j];
        }
        sums[gate] = sum;
      }
      let own = k / THREADS;
      let shares = sigmoid(sums);
      c[own] = shares.y * c[own] + shares.x * hyperbolic_tangent(vec4f(sums.z)).x;
      next[k] = shares.w * hyperbolic_tangent(vec4f(c[own])).x;
      out[params.out_first + t * params.out_stride + k] = next[k];
    }
    workgroupBarrier();
    for (var k = thread; k < width; k += THREADS) { h[k] = next[k]; }
    workgroupBarrier();
  }
}

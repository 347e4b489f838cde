// Span kernels, for inspection: softmax over each head's taps logits.

const THREADS = 64u;

struct Params {
  rows: u32,
  heads: u32,
  logits_first: u32,
  logits_stride: u32,
  out_first: u32,
  out_stride: u32,
  taps: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
  for (var e = id.x; e < params.rows * params.heads; e += workgroups.x * THREADS) {
    let row = e / params.heads;
    let column = e % params.heads * params.taps;
    let first = params.logits_first + row * params.logits_stride + column;
    var highest = logits[first];
    for (var j = 1u; j < params.taps; j++) { highest = max(highest, logits[first + j]); }
    var sum = 0.0;
    for (var j = 0u; j < params.taps; j++) { sum += exp(logits[first + j] - highest); }
    for (var j = 0u; j < params.taps; j++) {
      out[params.out_first + row * params.out_stride + column + j] = exp(logits[first + j] - highest) / sum;
    }
  }
}

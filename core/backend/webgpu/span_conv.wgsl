// ConvBERT's span-based dynamic convolution: the softmax of each head's taps logits, then
// out[t, c] = sum_j kernel[t, head(c), j] values[t + j - (taps - 1) / 2, c]; taps outside the sequence add zero.
// Each thread computes one output and recomputes its head's softmax: nine logits cost less than a pass over memory. Workgroup: (64 columns,
// a first token, sequence).

const THREADS = 64u;

struct Params {
  columns: u32,
  logits_first: u32,
  logits_stride: u32,
  values_first: u32,
  values_stride: u32,
  out_first: u32,
  out_stride: u32,
  taps: u32,
  head_dim: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read> logits: array<f32>;
@group(0) @binding(3) var<storage, read> values: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  let c = workgroup.x * THREADS + thread;
  if (c >= params.columns) { return; }
  let start = starts[workgroup.z];
  let length = starts[workgroup.z + 1u] - start;
  for (var t = workgroup.y; t < length; t += workgroups.y) {
    let first = params.logits_first + (start + t) * params.logits_stride + c / params.head_dim * params.taps;
    var highest = logits[first];
    for (var j = 1u; j < params.taps; j++) { highest = max(highest, logits[first + j]); }
    var weights = 0.0;
    var sum = 0.0;
    for (var j = 0u; j < params.taps; j++) {
      let weight = exp(logits[first + j] - highest);
      weights += weight;
      let shifted = t + j;
      if (shifted < params.taps / 2u || shifted - params.taps / 2u >= length) { continue; }
      sum += weight * values[params.values_first + (start + shifted - params.taps / 2u) * params.values_stride + c];
    }
    out[params.out_first + (start + t) * params.out_stride + c] = sum / weights;
  }
}

// out[t, c] = sum_j taps[j, c] x[t + j - (taps - 1) / 2, c], zero outside the sequence.
// Workgroup: (64 columns, a first token, sequence).

const THREADS = 64u;

struct Params {
  columns: u32,
  x_first: u32,
  x_stride: u32,
  taps_first: u32,
  taps_stride: u32,
  out_first: u32,
  out_stride: u32,
  tap_count: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read> taps: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  let c = workgroup.x * THREADS + thread;
  if (c >= params.columns) { return; }
  let start = starts[workgroup.z];
  let length = starts[workgroup.z + 1u] - start;
  for (var t = workgroup.y; t < length; t += workgroups.y) {
    var sum = 0.0;
    for (var j = 0u; j < params.tap_count; j++) {
      let shifted = t + j;  // the source token, plus half a kernel
      if (shifted < params.tap_count / 2u || shifted - params.tap_count / 2u >= length) { continue; }
      let source = start + shifted - params.tap_count / 2u;
      sum += taps[params.taps_first + j * params.taps_stride + c] * x[params.x_first + source * params.x_stride + c];
    }
    out[params.out_first + (start + t) * params.out_stride + c] = sum;
  }
}

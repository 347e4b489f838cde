// Input rows of a 1-D convolution as a product: out[t, g, j, i] = x[t + j - (taps - 1) / 2, g, i], zero outside the sequence, for group g,
// tap j and input i of the group. linear.wgsl computes the product. Workgroup: (64 output columns, a first token, sequence).

const THREADS = 64u;

struct Params {
  columns: u32,      // number of columns of x
  group_width: u32,  // columns of a group of x
  x_first: u32,
  x_stride: u32,
  out_first: u32,
  out_stride: u32,
  taps: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  let column = workgroup.x * THREADS + thread;
  if (column >= params.columns * params.taps) { return; }
  let group = column / (params.group_width * params.taps);
  let tap = column / params.group_width % params.taps;
  let source_column = group * params.group_width + column % params.group_width;
  let start = starts[workgroup.z];
  let length = starts[workgroup.z + 1u] - start;
  for (var t = workgroup.y; t < length; t += workgroups.y) {
    let shifted = t + tap;
    var value = 0.0;
    if (shifted >= params.taps / 2u && shifted - params.taps / 2u < length) {
      value = x[params.x_first + (start + shifted - params.taps / 2u) * params.x_stride + source_column];
    }
    out[params.out_first + (start + t) * params.out_stride + column] = value;
  }
}

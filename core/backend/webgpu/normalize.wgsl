// out[r] = x[r] / max(|x[r]|, eps), one workgroup per row.
const THREADS = 64u;

struct Params {
  rows: u32,
  width: u32,
  eps: f32,
  x_first: u32,
  x_stride: u32,
  out_first: u32,
  out_stride: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

var<workgroup> partial: array<f32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  for (var row = workgroup.x; row < params.rows; row += workgroups.x) {
    var squares = 0.0;
    for (var c = thread; c < params.width; c += THREADS) {
      let value = x[params.x_first + row * params.x_stride + c];
      squares += value * value;
    }
    workgroupBarrier();
    partial[thread] = squares;
    for (var half = THREADS / 2u; half > 0u; half /= 2u) {
      workgroupBarrier();
      if (thread < half) { partial[thread] += partial[thread + half]; }
    }
    workgroupBarrier();
    let length = max(sqrt(partial[0]), params.eps);
    for (var c = thread; c < params.width; c += THREADS) {
      out[params.out_first + row * params.out_stride + c] = x[params.x_first + row * params.x_stride + c] / length;
    }
  }
}

// Rotary position embeddings (core/ops/rotate.h): one thread computes one element of the result.
const THREADS = 64u;

struct Params {
  rows: u32,
  columns: u32,
  half: u32,  // half of head_dim
  x_first: u32,
  x_stride: u32,
  angles_first: u32,
  angles_stride: u32,
  out_first: u32,
  out_stride: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;       // [rows, heads * 2 half]
@group(0) @binding(2) var<storage, read> angles: array<f32>;  // [rows, 2 half]: cosines, sines
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
  for (var e = id.x; e < params.rows * params.columns; e += workgroups.x * THREADS) {
    let row = e / params.columns;
    let c = e % params.columns;
    let j = c % params.half;
    let is_second = c / params.half % 2u == 1u;
    let own = params.x_first + row * params.x_stride + c;
    let angle = params.angles_first + row * params.angles_stride + j;
    let other = select(-x[own + select(params.half, 0u, is_second)], x[own - select(0u, params.half, is_second)], is_second);
    out[params.out_first + row * params.out_stride + c] = angles[angle] * x[own] + angles[angle + params.half] * other;
  }
}

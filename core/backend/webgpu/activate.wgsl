// out = activation(x), elementwise; without an activation, a copy between any columns.
#include "activation.wgsl"

const THREADS = 64u;

struct Params {
  rows: u32,
  columns: u32,
  x_first: u32,
  x_stride: u32,
  out_first: u32,
  out_stride: u32,
  activation: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
  for (var e = id.x; e < params.rows * params.columns; e += workgroups.x * THREADS) {
    let row = e / params.columns;
    let c = e % params.columns;
    out[params.out_first + row * params.out_stride + c] =
        activate(vec4f(x[params.x_first + row * params.x_stride + c]), params.activation).x;
  }
}

// out = x + y or activation(x) * y, elementwise. y may have one row (y_stride 0), which combines with every row.
#include "activation.wgsl"

override MULTIPLY: bool = false;

const THREADS = 64u;

struct Params {
  rows: u32,
  columns: u32,
  x_first: u32,
  x_stride: u32,
  y_first: u32,
  y_stride: u32,
  out_first: u32,
  out_stride: u32,
  activation: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> y: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
  for (var e = id.x; e < params.rows * params.columns; e += workgroups.x * THREADS) {
    let row = e / params.columns;
    let c = e % params.columns;
    let b = y[params.y_first + row * params.y_stride + c];
    var a = x[params.x_first + row * params.x_stride + c];
    if (MULTIPLY) {
      a = activate(vec4f(a), params.activation).x * b;
    } else {
      a += b;
    }
    out[params.out_first + row * params.out_stride + c] = a;
  }
}

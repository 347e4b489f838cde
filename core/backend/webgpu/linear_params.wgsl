// Shared by the shaders of linear layers: all operands except x (binding 1) and w (2), whose types differ, and the epilogue.
#include "activation.wgsl"

struct Params {
  rows: u32,
  depth: u32,            // k
  width: u32,            // columns of one group
  x_first: u32,          // element of row 0, group 0
  x_stride: u32,
  x_group: u32,          // elements between groups
  w_first: u32,          // in elements; for int8, x, w and the depth are in words of four
  w_stride: u32,
  w_group: u32,
  bias_first: u32,
  bias_group: u32,
  out_first: u32,
  out_stride: u32,
  out_group: u32,
  other_first: u32,
  other_stride: u32,
  activation: u32,
  has_bias: u32,
  combine: u32,          // with `other`: none (0), sum (1), product (2)
  scales_first: u32,     // first scale of int8 weights, in `bias`
  x_scales_first: u32,   // scales of x's rows for int8 weights, in x
  x_scales_stride: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read> other: array<f32>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;

// out[row, group, col] = activation(product + bias), then plus or times other.
fn put(row: u32, col: u32, group: u32, product: f32) {
  var y = product;
  if (params.has_bias != 0u) { y += bias[params.bias_first + group * params.bias_group + col]; }
  y = activate(y, params.activation);
  let position = group * params.out_group + col;
  if (params.combine != 0u) {
    let z = other[params.other_first + row * params.other_stride + position];
    y = select(y + z, y * z, params.combine == 2u);
  }
  out[params.out_first + row * params.out_stride + position] = y;
}

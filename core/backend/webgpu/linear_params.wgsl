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

// Four elements of `bias`, of columns of a group; columns outside repeat the last one.
fn of_columns(first: u32, columns: vec4u, group: u32) -> vec4f {
  let at = first + group * params.bias_group + min(columns, vec4u(params.width - 1u));
  return vec4f(bias[at.x], bias[at.y], bias[at.z], bias[at.w]);
}

fn biases_of(columns: vec4u, group: u32) -> vec4f {
  if (params.has_bias == 0u) { return vec4f(); }
  return of_columns(params.bias_first, columns, group);
}

// out[row, group, columns] = activation(sums), then plus or times other.
fn put(row: u32, columns: vec4u, group: u32, sums: vec4f) {
  var y = activate(sums, params.activation);
  let places = group * params.out_group + columns;
  if (params.combine != 0u) {
    let at = params.other_first + row * params.other_stride + min(places, vec4u(group * params.out_group + params.width - 1u));
    let z = vec4f(other[at.x], other[at.y], other[at.z], other[at.w]);
    y = select(y + z, y * z, params.combine == 2u);
  }
  let to = params.out_first + row * params.out_stride + places;
  if (columns.x < params.width) { out[to.x] = y.x; }
  if (columns.y < params.width) { out[to.y] = y.y; }
  if (columns.z < params.width) { out[to.z] = y.z; }
  if (columns.w < params.width) { out[to.w] = y.w; }
}

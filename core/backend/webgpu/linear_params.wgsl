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
  weight_sums_first: u32,  // sums of their columns, in `bias`
  x_scales_first: u32,   // scales of x's rows for int8 weights, in x
  x_scales_stride: u32,
}

override FEW_REGISTERS: bool = false;

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

fn combined(places: vec4u, y: vec4f) -> vec4f {
  let z = vec4f(other[places.x], other[places.y], other[places.z], other[places.w]);
  return select(y + z, y * z, params.combine == 2u);
}

fn store(to: vec4u, y: vec4f) {
  out[to.x] = y.x;
  out[to.y] = y.y;
  out[to.z] = y.z;
  out[to.w] = y.w;
}

// out[rows, group, columns] = activation(sums), then plus or times other.
fn put(rows: vec4u, columns: vec4u, group: u32, sums: array<vec4f, 4>) {
  var y = sums;  // rotates, because an index that is not a literal would keep the array in memory
  if (params.activation != 0u) {
    for (var i = 0u; i < 4u; i++) {
      let first = activate(y[0], params.activation);
      y[0] = y[1];
      y[1] = y[2];
      y[2] = y[3];
      y[3] = first;
    }
  }
  let first = group * params.out_group;
  if (params.combine != 0u) {
    let places = params.other_first + first + min(columns, vec4u(params.width - 1u));
    let near = min(rows, vec4u(params.rows - 1u)) * params.other_stride;
    y[0] = combined(near.x + places, y[0]);
    y[1] = combined(near.y + places, y[1]);
    y[2] = combined(near.z + places, y[2]);
    y[3] = combined(near.w + places, y[3]);
  }
  let places = params.out_first + first + columns;
  let to = rows * params.out_stride;
  if (rows.w < params.rows && columns.w < params.width) {
    store(to.x + places, y[0]);
    store(to.y + places, y[1]);
    store(to.z + places, y[2]);
    store(to.w + places, y[3]);
    return;
  }
  for (var i = 0u; i < 4u; i++) {
    if (rows[i] >= params.rows) { return; }
    if (columns.x < params.width) { out[to[i] + places.x] = y[0].x; }
    if (columns.y < params.width) { out[to[i] + places.y] = y[0].y; }
    if (columns.z < params.width) { out[to[i] + places.z] = y[0].z; }
    if (columns.w < params.width) { out[to[i] + places.w] = y[0].w; }
    y[0] = y[1];
    y[1] = y[2];
    y[2] = y[3];
  }
}

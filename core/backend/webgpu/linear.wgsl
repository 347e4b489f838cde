// out[r, z, n] = activation(sum_k x[r, z, k] w[z, n, k] + bias[z, n]) for each group z, then plus or times other[r, z, n]; tiled by
// linear_tile.wgsl. Groups are also the heads of DeBERTa's position tables. Reads single elements, so any depth and offset works;
// linear_aligned.wgsl reads vec4s where possible.
#include "linear_params.wgsl"
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read> w: array<u32>;
#include "weights.wgsl"
#include "linear_tile.wgsl"
#include "linear_float.wgsl"

fn left(k: u32) -> u32 {
  return params.depth - min(k, params.depth);
}

fn load_x(row: u32, k: u32) -> vec4f {
  return elements_of_x(row + k, left(k));
}

fn load_w(row: u32, k: u32) -> Eight {
  return Eight(bitcast<vec4u>(elements_of_w(row + k, left(k))), bitcast<vec4u>(elements_of_w(row + k + 4u, left(k + 4u))));
}

fn lower(w: Eight) -> vec4f {
  return bitcast<vec4f>(w.a);
}

fn upper(w: Eight) -> vec4f {
  return bitcast<vec4f>(w.b);
}

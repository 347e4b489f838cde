// out[r, z, n] = activation(sum_k x[r, z, k] w[z, n, k] + bias[z, n]) for each group z, then plus or times other[r, z, n]; by the
// tile (linear_tile.wgsl). The groups are also the heads of DeBERTa's position tables. Any depth, any place: elements are read
// one by one. Where they can be read by four, linear_aligned.wgsl does so.
#include "linear_params.wgsl"
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read> w: array<u32>;
#include "weights.wgsl"
#include "linear_tile.wgsl"
#include "linear_float.wgsl"

fn left(k: u32) -> u32 {
  return params.depth - min(k, params.depth);
}

fn load_x(row: u32, k: u32) -> vec4t {
  return vec4t(elements_of_x(row + k, left(k)));
}

fn load_w(row: u32, k: u32) -> vec4t {
  return vec4t(elements_of_w(row + k, left(k)));
}

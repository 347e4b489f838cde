// linear.wgsl for a depth that is a multiple of 16, and rows and groups at multiples of four: reads vec4s without bounds checks.
#include "linear_params.wgsl"
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read> w: array<vec4u>;
#include "linear_tile.wgsl"
#include "linear_float.wgsl"

override HALF_WEIGHTS: bool = false;  // w stores eight float16 per vec4u, otherwise four float32

fn load_x(row: u32, k: u32) -> vec4t {
  return vec4t(x[(row + k) / 4u]);
}

fn load_w(row: u32, k: u32) -> vec4t {
  let first = row + k;
  if (HALF_WEIGHTS) {
    let eight = w[first / 8u];
    let four = select(eight.xy, eight.zw, (first & 4u) != 0u);
    return vec4t(vec4f(unpack2x16float(four.x), unpack2x16float(four.y)));
  }
  return vec4t(bitcast<vec4f>(w[first / 4u]));
}

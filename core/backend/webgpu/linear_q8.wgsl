// linear.wgsl for int8 weights: x is the output of quantize_rows.wgsl, scales followed by integers. Sums of products are exact; the sum
// times both scales continues as the product in linear.wgsl. Four integers along k form a word; dot4 multiplies two words (recorder.cc:
// with or without a language feature). Rows of both operands are zero-padded to whole tiles.
//
// For 13-bit integers (WIDE) the first half of the depth is the high parts, the second half the low parts, both with the same weights:
// after the first half the sums are multiplied by 128.
#include "linear_params.wgsl"
@group(0) @binding(1) var<storage, read> x: array<vec4u>;
@group(0) @binding(2) var<storage, read> w: array<vec4u>;
#include "linear_tile.wgsl"

override WIDE: bool = false;

const HALF_PRODUCTS = false;
alias Quad = vec4u;
alias Products = vec4i;
alias Sums = vec4i;

fn load_x(row: u32, k: u32) -> vec4u {
  return x[(row + k) / 4u];
}

fn load_w(row: u32, k: u32) -> vec4u {
  let half = params.depth / 2u;
  return w[(row + select(k, k - half, WIDE && k >= half)) / 4u];
}

fn begin_low(products: ptr<function, array<vec4i, 8>>) {
  for (var i = 0u; i < 8u; i++) { (*products)[i] *= 128; }
}

fn add_products(a: u32, b: vec4u, sums: vec4i) -> vec4i {
  return sums + vec4i(dot4(a, b.x), dot4(a, b.y), dot4(a, b.z), dot4(a, b.w));
}

fn finished(row: u32, column: u32, group: u32, sum: i32) -> f32 {
  let slice = params.x_scales_first + row * params.x_scales_stride + group;
  let scale = bitcast<f32>(x[slice / 4u][slice % 4u]) * bias[params.scales_first + group * params.bias_group + column];
  return f32(sum) * scale;
}

// Float operations for linear_tile.wgsl. vec4t is vec4<f32>, or, for float16 weights on a GPU with shader-f16, vec4<f16> (recorder.cc).
// Then HALF_PRODUCTS is true: four products are summed in half precision, everything else in float32.
alias Quad = vec4t;
alias Products = vec4t;
alias Sums = vec4f;
const WIDE = false;

fn begin_low(products: ptr<function, array<vec4t, 8>>) {}

fn add_products(a: scalar, b: vec4t, sums: vec4t) -> vec4t {
  return fma(vec4t(a), b, sums);
}

fn finished(row: u32, column: u32, group: u32, sum: f32) -> f32 {
  return sum;
}

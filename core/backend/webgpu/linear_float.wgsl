// Float operations for linear_tile.wgsl.
alias Quad = vec4f;
alias Sums = vec4f;
const WIDE = false;

fn begin_low(sums: ptr<function, array<vec4f, 8>>) {}

fn add_products(a: f32, b: vec4f, sums: vec4f) -> vec4f {
  return fma(vec4f(a), b, sums);
}

fn slices_of(rows: vec4u, group: u32) -> vec4u {
  return vec4u();  // unused
}

fn columns_of(columns: vec4u, group: u32) -> vec4f {
  return vec4f();  // unused
}

fn finished(sums: vec4f, slice: u32, columns: vec4f) -> vec4f {
  return sums;
}

// linear.wgsl for int8 weights: x is the output of quantize_rows.wgsl, scales and offsets followed by integers. Sums of products are exact,
// and the sums of the columns' weights correct for offsets; the sum times both scales continues as the product in linear.wgsl. Four integers
// along k form a word; dot4 multiplies two words (recorder.cc: with or without a language feature). Rows of both operands are zero-padded to
// whole tiles.
//
// For 13-bit integers (WIDE) the first half of the depth is the high parts, the second half the low parts, both with the same weights:
// after the first half the sums are multiplied by 128.
#include "linear_params.wgsl"
@group(0) @binding(1) var<storage, read> x: array<vec4u>;
@group(0) @binding(2) var<storage, read> w: array<vec4u>;
#include "linear_tile.wgsl"

override WIDE: bool = false;

alias Quad = vec4u;
alias Sums = vec4i;

fn load_x(row: u32, k: u32) -> vec4u {
  return x[(row + k) / 4u];
}

fn load_w(row: u32, k: u32) -> Eight {
  let half = params.depth / 2u;
  let first = (row + select(k, k - half, WIDE && k >= half)) / 4u;
  return Eight(w[first], w[first + 1u]);
}

fn lower(w: Eight) -> vec4u {
  return w.a;
}

fn upper(w: Eight) -> vec4u {
  return w.b;
}

fn begin_low(sums: ptr<function, array<vec4i, 8>>) {
  for (var i = 0u; i < 8u; i++) { (*sums)[i] *= 128; }
}

fn add_products(a: u32, b: vec4u, sums: vec4i) -> vec4i {
  return sums + vec4i(dot4(a, b.x), dot4(a, b.y), dot4(a, b.z), dot4(a, b.w));
}

fn slices_of(rows: vec4u, group: u32) -> vec4u {
  return params.x_scales_first + group + min(rows * params.x_scales_stride, vec4u((params.rows - 1u) * params.x_scales_stride));
}

struct Columns {
  scales: vec4f,
  weight_sums: vec4i,
}

fn columns_of(columns: vec4u, group: u32) -> Columns {
  return Columns(of_columns(params.scales_first, columns, group),
                 bitcast<vec4i>(of_columns(params.weight_sums_first, columns, group)));
}

fn finished(sums: vec4i, slice: u32, columns: Columns) -> vec4f {
  let pair = x[slice / 2u];
  let row = select(pair.xy, pair.zw, (slice & 1u) != 0u);  // scale and offset
  return vec4f(sums + bitcast<i32>(row.y) * columns.weight_sums) * (bitcast<f32>(row.x) * columns.scales);
}

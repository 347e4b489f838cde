// out[r] = (x[r] + y[r] - mean) / sqrt(variance + eps) * weight + bias, one workgroup per row. The variance is computed from centred
// values, because the difference of mean square and squared mean would cancel. x may consist of the slices of a linear layer's product,
// which are summed here, with its bias.
struct Params {
  rows: u32,
  width: u32,
  eps: f32,
  x_first: u32,
  x_stride: u32,
  y_first: u32,
  y_stride: u32,
  weight_first: u32,
  bias_first: u32,
  out_first: u32,
  out_stride: u32,
  has_y: u32,
  slices: u32,
  slice: u32,  // number of elements from one slice to the next
  has_slice_bias: u32,
  has_bias: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> y: array<f32>;
@group(0) @binding(3) var<storage, read> weight: array<f32>;
@group(0) @binding(4) var<storage, read> bias: array<f32>;
@group(0) @binding(5) var<storage, read> slice_bias: array<f32>;
@group(0) @binding(6) var<storage, read_write> out: array<f32>;

fn element(row: u32, col: u32) -> f32 {
  let first = params.x_first + row * params.x_stride + col;
  var v = x[first];
  for (var s = 1u; s < params.slices; s++) { v += x[first + s * params.slice]; }
  if (params.has_slice_bias != 0u) { v += slice_bias[col]; }
  if (params.has_y != 0u) { v += y[params.y_first + row * params.y_stride + col]; }
  return v;
}

@compute @workgroup_size(THREADS)
fn main(group: Group, own: Thread) {
  let thread = number_of(group, own);
  for (var row = group.id.x; row < params.rows; row += group.count.x) {
    var sum = 0.0;
    for (var c = thread; c < params.width; c += THREADS) { sum += element(row, c); }
    let mean = total(group, thread, sum, 0u) / f32(params.width);
    var squares = 0.0;
    for (var c = thread; c < params.width; c += THREADS) {
      let centred = element(row, c) - mean;
      squares += centred * centred;
    }
    let deviation = sqrt(total(group, thread, squares, 1u) / f32(params.width) + params.eps);
    for (var c = thread; c < params.width; c += THREADS) {
      var y = (element(row, c) - mean) / deviation * weight[params.weight_first + c];
      if (params.has_bias != 0u) { y += bias[params.bias_first + c]; }
      out[params.out_first + row * params.out_stride + c] = y;
    }
  }
}

// out = x / sqrt(mean(x^2) + eps) * (weight + offset) for each block of `width` columns of a row, one workgroup per block.
struct Params {
  all: u32,     // blocks of all rows
  blocks: u32,  // blocks of a row
  width: u32,
  eps: f32,
  offset: f32,
  x_first: u32,
  x_stride: u32,
  weight_first: u32,
  out_first: u32,
  out_stride: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(THREADS)
fn main(group: Group, own: Thread) {
  let thread = number_of(group, own);
  var side = 0u;
  for (var i = group.id.x; i < params.all; i += group.count.x) {
    let row = i / params.blocks;
    let first = i % params.blocks * params.width;
    var squares = 0.0;
    for (var c = thread; c < params.width; c += THREADS) {
      let value = x[params.x_first + row * params.x_stride + first + c];
      squares += value * value;
    }
    let deviation = sqrt(total(group, thread, squares, side) / f32(params.width) + params.eps);
    for (var c = thread; c < params.width; c += THREADS) {
      let value = x[params.x_first + row * params.x_stride + first + c] / deviation;
      out[params.out_first + row * params.out_stride + first + c] = value * (weight[params.weight_first + c] + params.offset);
    }
    side = 1u - side;
  }
}

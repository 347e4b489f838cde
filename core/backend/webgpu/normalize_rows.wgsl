// out[r] = x[r] / max(|x[r]|, eps), one workgroup per row.
struct Params {
  rows: u32,
  width: u32,
  eps: f32,
  x_first: u32,
  x_stride: u32,
  out_first: u32,
  out_stride: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(THREADS)
fn main(group: Group, own: Thread) {
  let thread = number_of(group, own);
  var side = 0u;
  for (var row = group.id.x; row < params.rows; row += group.count.x) {
    var squares = 0.0;
    for (var c = thread; c < params.width; c += THREADS) {
      let value = x[params.x_first + row * params.x_stride + c];
      squares += value * value;
    }
    let length = max(sqrt(total(group, thread, squares, side)), params.eps);
    for (var c = thread; c < params.width; c += THREADS) {
      out[params.out_first + row * params.out_stride + c] = x[params.x_first + row * params.x_stride + c] / length;
    }
    side = 1u - side;
  }
}

// linear.wgsl over int8 weights: each row's slice of a group becomes integers (quantize.wgsl), their products are added up
// exactly, and the sum times both scales goes where the product goes there. Four integers along k are a word; dot4 multiplies
// two words (recorder.cc: by one instruction, or by hand).
//
// A workgroup finds its own rows' largest values first and quantises while it loads a tile: its rows are read twice, by
// every workgroup of them, and no dispatch nor buffer is needed for it. Integers of 13 bits (WIDE) are split in 128 high + low.
#include "linear_params.wgsl"
#include "quantize.wgsl"
#include "weights.wgsl"

override TILE_M: u32 = 32u;
override TILE_N: u32 = 32u;
override WIDE: bool = false;

const QUADS = 8u;          // words along k in a tile
const ROW = QUADS + 1u;    // with padding
override THREADS_X: u32 = TILE_N / 4u;
override THREADS_Y: u32 = TILE_M / 4u;
override QUANTIZED_ROWS: u32 = TILE_M;

var<workgroup> x_tile: array<u32, TILE_M * ROW>;
var<workgroup> x_high: array<u32, TILE_M * ROW>;
var<workgroup> w_tile: array<u32, TILE_N * ROW>;

@compute @workgroup_size(THREADS_X, THREADS_Y)
fn main(@builtin(workgroup_id) tile: vec3u, @builtin(local_invocation_id) local: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  let first_row = tile.y * TILE_M;
  let first_col = tile.x * TILE_N;
  let group = tile.z;
  let x_base = params.x_first + group * params.x_group;
  let w_base = params.w_first + group * params.w_group;
  let threads = THREADS_X * THREADS_Y;

  find_scales(x_base + first_row * params.x_stride, params.x_stride, min(TILE_M, params.rows - first_row), params.depth,
              params.levels, thread, threads);

  var sums: array<vec4i, 4>;
  for (var k0 = 0u; k0 < params.depth; k0 += 4u * QUADS) {
    workgroupBarrier();
    for (var e = thread; e < TILE_M * QUADS; e += threads) {
      let m = e / QUADS;
      let k = k0 + 4u * (e % QUADS);
      let inside = first_row + m < params.rows && k < params.depth;
      let count = select(0u, params.depth - min(k, params.depth), inside);
      let q = vec4i(quantize(load_x(x_base + (first_row + m) * params.x_stride + k, count), m));
      let low = select(q, ((q + 64) & vec4i(127)) - 64, WIDE);
      x_tile[m * ROW + e % QUADS] = pack(low);
      if (WIDE) { x_high[m * ROW + e % QUADS] = pack((q - low) >> vec4u(7u)); }
    }
    for (var e = thread; e < TILE_N * QUADS; e += threads) {
      let n = e / QUADS;
      let k = k0 + 4u * (e % QUADS);
      var word = 0u;
      if (first_col + n < params.width && k < params.depth) {
        word = w[w_base + (first_col + n) * params.w_stride + k / 4u];
      }
      w_tile[n * ROW + e % QUADS] = word;
    }
    workgroupBarrier();
    for (var q = 0u; q < QUADS; q++) {
      let w0 = w_tile[local.x * ROW + q];
      let w1 = w_tile[(local.x + THREADS_X) * ROW + q];
      let w2 = w_tile[(local.x + 2u * THREADS_X) * ROW + q];
      let w3 = w_tile[(local.x + 3u * THREADS_X) * ROW + q];
      for (var i = 0u; i < 4u; i++) {
        let m = (local.y + i * THREADS_Y) * ROW + q;
        let a = x_tile[m];
        sums[i] += vec4i(dot4(a, w0), dot4(a, w1), dot4(a, w2), dot4(a, w3));
        if (WIDE) {
          let b = x_high[m];
          sums[i] += 128 * vec4i(dot4(b, w0), dot4(b, w1), dot4(b, w2), dot4(b, w3));
        }
      }
    }
  }

  for (var i = 0u; i < 4u; i++) {
    let m = local.y + i * THREADS_Y;
    for (var j = 0u; j < 4u; j++) {
      let col = first_col + local.x + j * THREADS_X;
      if (col >= params.width) { continue; }
      let scale = scales[m].x * bias[params.scales_first + group * params.bias_group + col];
      put(first_row + m, col, group, f32(sums[i][j]) * scale);
    }
  }
}

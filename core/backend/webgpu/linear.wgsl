// out[r, z, n] = activation(sum_k x[r, z, k] w[z, n, k] + bias[z, n]) for each group z, then plus or times other[r, z, n].
//
// A workgroup computes a TILE_M x TILE_N tile of one group; each thread 4 x 4 outputs whose rows and columns lie a
// quarter of the tile apart. Tiles of x and w are kept as vec4 along k, one vec4 of padding a row against bank
// conflicts. The groups are also the heads of DeBERTa's position tables. vec4t is vec4<f32>; or, for float16 weights on a
// GPU with shader-f16, vec4<f16> (recorder.cc): then four products are added up in half, all else stays float32.
#include "linear_params.wgsl"
#include "weights.wgsl"

override TILE_M: u32 = 32u;
override TILE_N: u32 = 32u;

const QUADS = 4u;          // vec4s along k in a tile
const ROW = QUADS + 1u;    // with padding
override THREADS_X: u32 = TILE_N / 4u;
override THREADS_Y: u32 = TILE_M / 4u;

var<workgroup> x_tile: array<vec4t, TILE_M * ROW>;
var<workgroup> w_tile: array<vec4t, TILE_N * ROW>;

@compute @workgroup_size(THREADS_X, THREADS_Y)
fn main(@builtin(workgroup_id) tile: vec3u, @builtin(local_invocation_id) local: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  let first_row = tile.y * TILE_M;
  let first_col = tile.x * TILE_N;
  let group = tile.z;
  let x_base = params.x_first + group * params.x_group;
  let w_base = params.w_first + group * params.w_group;
  let threads = THREADS_X * THREADS_Y;

  var sums: array<vec4f, 4>;
  for (var k0 = 0u; k0 < params.depth; k0 += 4u * QUADS) {
    for (var e = thread; e < TILE_M * QUADS; e += threads) {
      let m = e / QUADS;
      let k = k0 + 4u * (e % QUADS);
      let inside = first_row + m < params.rows && k < params.depth;
      let count = select(0u, params.depth - min(k, params.depth), inside);
      x_tile[m * ROW + e % QUADS] = vec4t(load_x(x_base + (first_row + m) * params.x_stride + k, count));
    }
    for (var e = thread; e < TILE_N * QUADS; e += threads) {
      let n = e / QUADS;
      let k = k0 + 4u * (e % QUADS);
      let inside = first_col + n < params.width && k < params.depth;
      let count = select(0u, params.depth - min(k, params.depth), inside);
      w_tile[n * ROW + e % QUADS] = vec4t(load_w(w_base + (first_col + n) * params.w_stride + k, count));
    }
    workgroupBarrier();
    for (var q = 0u; q < QUADS; q++) {
      let w0 = w_tile[local.x * ROW + q];
      let w1 = w_tile[(local.x + THREADS_X) * ROW + q];
      let w2 = w_tile[(local.x + 2u * THREADS_X) * ROW + q];
      let w3 = w_tile[(local.x + 3u * THREADS_X) * ROW + q];
      for (var i = 0u; i < 4u; i++) {
        let a = x_tile[(local.y + i * THREADS_Y) * ROW + q];
        sums[i] += vec4f(f32(dot(a, w0)), f32(dot(a, w1)), f32(dot(a, w2)), f32(dot(a, w3)));
      }
    }
    workgroupBarrier();
  }

  for (var i = 0u; i < 4u; i++) {
    for (var j = 0u; j < 4u; j++) {
      put(first_row + local.y + i * THREADS_Y, first_col + local.x + j * THREADS_X, group, sums[i][j]);
    }
  }
}

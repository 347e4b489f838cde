// The tiled product of every weight format: out[r, n] = sum_k x[r, k] w[n, k] for TILE_ROWS x TILE_COLUMNS outputs of one group, ROWS x COLUMNS per
// thread. The including shader defines Quad (four neighbours along k), Sums (of four columns), load_x (a Quad), load_w (an Eight), lower and
// upper (an Eight's Quads), add_products, slices_of, columns_of, finished, and WIDE (see linear_q8.wgsl).
//
// Every thread loads its share of the next tile while the current one is multiplied: without a branch, and as it is stored, because
// compilers wait for loads where branches meet and before they unpack. Past the depth the last tile is loaded once more. With FEW_REGISTERS
// a thread loads just before it stores, and compilers cannot mix the steps of the inner loop.
//
// Tiles in workgroup memory are rows along k. A thread's columns are COLUMN_THREADS apart, so that adjacent threads write adjacent elements.
// Rows and columns outside repeat the last one; they are computed but not written, so the loop needs no bounds checks.
#include "quads.wgsl"

override TILE_ROWS: u32 = 32u;
override TILE_COLUMNS: u32 = 64u;
override ROWS: u32 = 8u;     // 4 or 8
override COLUMNS: u32 = 4u;  // 4, or 8 with 8 rows

const STEP = 16u;                                     // depth of a tile
const PITCH = STEP / 4u + 1u;                         // in Quads, padded against bank conflicts
override COLUMN_THREADS: u32 = TILE_COLUMNS / COLUMNS;
override ROW_THREADS: u32 = TILE_ROWS / ROWS;         // a thread's rows are this far apart
override THREADS: u32 = COLUMN_THREADS * ROW_THREADS;
override X_THREADS: u32 = THREADS / TILE_ROWS;        // threads that load a row of x: 2, two Quads each, or 4
override ALL_W: bool = THREADS == 2u * TILE_COLUMNS;  // otherwise each loads of two rows of w,
override W_ROWS: u32 = THREADS / 2u;                  // this far apart

var<workgroup> x_tile: array<Quad, TILE_ROWS * PITCH>;
var<workgroup> w_tile: array<Quad, TILE_COLUMNS * PITCH>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) tile: vec3u, @builtin(local_invocation_index) thread: u32) {
  let first_row = tile.y * TILE_ROWS;
  let first_column = tile.x * TILE_COLUMNS;
  let group = tile.z;

  let x_row = thread / X_THREADS;
  let x_k = thread % X_THREADS * (STEP / X_THREADS);
  let w_row = thread / 2u;
  let w_k = thread % 2u * 8u;
  let x_first = params.x_first + group * params.x_group + min(first_row + x_row, params.rows - 1u) * params.x_stride;
  let w_rows = params.w_first + group * params.w_group +
               min(vec2u(first_column + w_row) + vec2u(0u, W_ROWS), vec2u(params.width - 1u)) * params.w_stride;
  let x_place = x_row * PITCH + x_k / 4u;
  let w_place = w_row * PITCH + w_k / 4u;
  let row = thread / COLUMN_THREADS;
  let column = thread % COLUMN_THREADS;
  let last = (params.depth - 1u) / STEP * STEP;

  var sums: array<Sums, 8>;  // in registers: every index is a literal
  var more: array<Sums, 8>;  // the same for the last four of eight columns of a thread
  var x0 = load_x(x_first, x_k);
  var x1: Quad;
  if (X_THREADS == 2u) { x1 = load_x(x_first, x_k + 4u); }
  var w0 = load_w(w_rows.x, w_k);
  var w1: Eight;
  if (!ALL_W) { w1 = load_w(w_rows.y, w_k); }
  for (var k0 = 0u; k0 < params.depth; k0 += STEP) {
    if (FEW_REGISTERS) {
      x0 = load_x(x_first, k0 + x_k);
      if (X_THREADS == 2u) { x1 = load_x(x_first, k0 + x_k + 4u); }
      w0 = load_w(w_rows.x, k0 + w_k);
      if (!ALL_W) { w1 = load_w(w_rows.y, k0 + w_k); }
    }
    workgroupBarrier();
    x_tile[x_place] = x0;
    if (X_THREADS == 2u) { x_tile[x_place + 1u] = x1; }
    w_tile[w_place] = lower(w0);
    w_tile[w_place + 1u] = upper(w0);
    if (!ALL_W) {
      w_tile[w_place + W_ROWS * PITCH] = lower(w1);
      w_tile[w_place + W_ROWS * PITCH + 1u] = upper(w1);
    }
    workgroupBarrier();
    if (!FEW_REGISTERS) {
      let next = min(k0 + STEP, last);
      x0 = load_x(x_first, next + x_k);
      if (X_THREADS == 2u) { x1 = load_x(x_first, next + x_k + 4u); }
      w0 = load_w(w_rows.x, next + w_k);
      if (!ALL_W) { w1 = load_w(w_rows.y, next + w_k); }
    }
    if (WIDE && k0 == params.depth / 2u) {
      begin_low(&sums);
      if (COLUMNS == 8u) { begin_low(&more); }
    }
    for (var q = 0u; q < STEP / 4u; q++) {
      if (COLUMNS == 8u) { break; }
      if (FEW_REGISTERS && q >= params.depth) { break; }  // compilers cannot unroll a loop with an unknown end
      let a = w_tile[column * PITCH + q];
      let b = w_tile[(column + COLUMN_THREADS) * PITCH + q];
      let c = w_tile[(column + 2u * COLUMN_THREADS) * PITCH + q];
      let d = w_tile[(column + 3u * COLUMN_THREADS) * PITCH + q];
      let x_at = row * PITCH + q;
      sums[0] = add_quads(x_tile[x_at], a, b, c, d, sums[0]);
      sums[1] = add_quads(x_tile[x_at + ROW_THREADS * PITCH], a, b, c, d, sums[1]);
      sums[2] = add_quads(x_tile[x_at + 2u * ROW_THREADS * PITCH], a, b, c, d, sums[2]);
      sums[3] = add_quads(x_tile[x_at + 3u * ROW_THREADS * PITCH], a, b, c, d, sums[3]);
      if (ROWS == 8u) {
        sums[4] = add_quads(x_tile[x_at + 4u * ROW_THREADS * PITCH], a, b, c, d, sums[4]);
        sums[5] = add_quads(x_tile[x_at + 5u * ROW_THREADS * PITCH], a, b, c, d, sums[5]);
        sums[6] = add_quads(x_tile[x_at + 6u * ROW_THREADS * PITCH], a, b, c, d, sums[6]);
        sums[7] = add_quads(x_tile[x_at + 7u * ROW_THREADS * PITCH], a, b, c, d, sums[7]);
      }
    }
    if (COLUMNS == 8u) {
      // Four copies: compilers do not unroll a loop of this length, and would move the next tile's loads to after the loop.
      {
        const q = 0u;
#include "linear_step.wgsl"
      }
      {
        const q = 1u;
#include "linear_step.wgsl"
      }
      {
        const q = 2u;
#include "linear_step.wgsl"
      }
      {
        const q = 3u;
#include "linear_step.wgsl"
      }
    }
  }

  for (var half = 0u; half < COLUMNS; half += 4u) {
    let columns = vec4u(first_column + column) + (vec4u(half) + vec4u(0u, 1u, 2u, 3u)) * COLUMN_THREADS;
    let own = columns_of(columns, group);
    let biases = biases_of(columns, group);
    for (var i = 0u; i < ROWS; i += 4u) {
      let rows = vec4u(first_row + row) + (vec4u(i) + vec4u(0u, 1u, 2u, 3u)) * ROW_THREADS;
      let slices = slices_of(rows, group);
      put(rows, columns, group, array<vec4f, 4>(finished(sums[0], slices.x, own) + biases,
                                                finished(sums[1], slices.y, own) + biases,
                                                finished(sums[2], slices.z, own) + biases,
                                                finished(sums[3], slices.w, own) + biases));
      if (ROWS == 4u) { break; }
      sums[0] = sums[4];
      sums[1] = sums[5];
      sums[2] = sums[6];
      sums[3] = sums[7];
      if (COLUMNS == 8u) {
        if (i == 0u) { continue; }
        sums = more;
      }
    }
    if (COLUMNS == 4u) { break; }
  }
}

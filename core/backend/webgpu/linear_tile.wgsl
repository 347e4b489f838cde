// The tiled product of every weight format: out[r, n] = sum_k x[r, k] w[n, k] for TILE_ROWS x 64 outputs of one group, ROWS x 4 per thread.
// The including shader defines Quad (four neighbours along k), Products and Sums (of four columns), load_x and load_w (a Quad of a row),
// add_products, finished, and WIDE (see linear_q8.wgsl).
//
// Tiles in workgroup memory have k outermost: four rows, or four columns, of one k are a vec4, so that a thread reads ROWS / 4 + 1 vec4s
// for ROWS * 4 products per k. A thread's columns are 16 apart, so that adjacent threads write adjacent elements. The next tile is loaded
// into registers while the current one is multiplied.
//
// Rows and columns outside repeat the last one; they are computed but not written, so the loop needs no bounds checks.
override TILE_ROWS: u32 = 32u;
override ROWS: u32 = 8u;  // 4 or 8

const TILE_COLUMNS = 64u;
const STEP = 16u;         // depth of a tile
const COLUMN_THREADS = TILE_COLUMNS / 4u;
// k = 4 a + b is row 4 b + a of a tile. Rows are padded by two vec4s, so that eight adjacent writing threads, two blocks for each a, do not
// share a bank.
const W_PITCH = TILE_COLUMNS / 4u + 2u;
override X_PITCH: u32 = TILE_ROWS / 4u + 2u;
override THREADS: u32 = COLUMN_THREADS * (TILE_ROWS / ROWS);
override FIRST_W: u32 = THREADS - TILE_COLUMNS;  // the first thread that loads w

var<workgroup> x_tile: array<Quad, STEP * X_PITCH>;
var<workgroup> w_tile: array<Quad, STEP * W_PITCH>;

// 4 x 4 elements that one thread loads: four neighbours along k of each of four rows.
struct Block {
  a: Quad,
  b: Quad,
  c: Quad,
  d: Quad,
}

fn x_block(rows: vec4u, k: u32) -> Block {
  return Block(load_x(rows.x, k), load_x(rows.y, k), load_x(rows.z, k), load_x(rows.w, k));
}

fn w_block(rows: vec4u, k: u32) -> Block {
  return Block(load_w(rows.x, k), load_w(rows.y, k), load_w(rows.z, k), load_w(rows.w, k));
}

fn put_columns(row: u32, column: u32, group: u32, sums: Sums) {
  if (row >= params.rows) { return; }
  var rest = sums;
  for (var j = 0u; j < TILE_COLUMNS; j += COLUMN_THREADS) {
    if (column + j < params.width) { put(row, column + j, group, finished(row, column + j, group, rest.x)); }
    rest = rest.yzwx;
  }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) tile: vec3u, @builtin(local_invocation_index) thread: u32) {
  let first_row = tile.y * TILE_ROWS;
  let first_column = tile.x * TILE_COLUMNS;
  let group = tile.z;

  let loads_x = thread < TILE_ROWS;
  let loads_w = thread >= FIRST_W;
  let k_quad = thread % 4u;
  let x_quad = thread / 4u;
  let w_quad = (thread - FIRST_W) / 4u;
  let x_rows = params.x_first + group * params.x_group +
               min(vec4u(first_row + 4u * x_quad) + vec4u(0u, 1u, 2u, 3u), vec4u(params.rows - 1u)) * params.x_stride;
  let w_rows = params.w_first + group * params.w_group +
               min(vec4u(first_column + w_quad) + vec4u(0u, 1u, 2u, 3u) * COLUMN_THREADS, vec4u(params.width - 1u)) *
                   params.w_stride;
  let x_place = k_quad * X_PITCH + x_quad;
  let w_place = k_quad * W_PITCH + w_quad;
  let row = thread / COLUMN_THREADS * ROWS;
  let column = thread % COLUMN_THREADS;

  // Arrays in registers: every index is a literal.
  var products: array<Products, 8>;
  var sums: array<Sums, 8>;
  var x_next: Block;
  var w_next: Block;
  if (loads_x) { x_next = x_block(x_rows, 4u * k_quad); }
  if (loads_w) { w_next = w_block(w_rows, 4u * k_quad); }
  for (var k0 = 0u; k0 < params.depth; k0 += STEP) {
    workgroupBarrier();
    if (loads_x) {
      x_tile[x_place] = Quad(x_next.a.x, x_next.b.x, x_next.c.x, x_next.d.x);
      x_tile[x_place + 4u * X_PITCH] = Quad(x_next.a.y, x_next.b.y, x_next.c.y, x_next.d.y);
      x_tile[x_place + 8u * X_PITCH] = Quad(x_next.a.z, x_next.b.z, x_next.c.z, x_next.d.z);
      x_tile[x_place + 12u * X_PITCH] = Quad(x_next.a.w, x_next.b.w, x_next.c.w, x_next.d.w);
    }
    if (loads_w) {
      w_tile[w_place] = Quad(w_next.a.x, w_next.b.x, w_next.c.x, w_next.d.x);
      w_tile[w_place + 4u * W_PITCH] = Quad(w_next.a.y, w_next.b.y, w_next.c.y, w_next.d.y);
      w_tile[w_place + 8u * W_PITCH] = Quad(w_next.a.z, w_next.b.z, w_next.c.z, w_next.d.z);
      w_tile[w_place + 12u * W_PITCH] = Quad(w_next.a.w, w_next.b.w, w_next.c.w, w_next.d.w);
    }
    workgroupBarrier();
    if (k0 + STEP < params.depth) {
      if (loads_x) { x_next = x_block(x_rows, k0 + STEP + 4u * k_quad); }
      if (loads_w) { w_next = w_block(w_rows, k0 + STEP + 4u * k_quad); }
    }
    if (WIDE && k0 == params.depth / 2u) { begin_low(&products); }
    for (var k = 0u; k < STEP; k++) {
      let w4 = w_tile[k * W_PITCH + column];
      let x_at = k * X_PITCH + row / 4u;
      let upper = x_tile[x_at];
      products[0] = add_products(upper.x, w4, products[0]);
      products[1] = add_products(upper.y, w4, products[1]);
      products[2] = add_products(upper.z, w4, products[2]);
      products[3] = add_products(upper.w, w4, products[3]);
      if (ROWS == 8u) {
        let lower = x_tile[x_at + 1u];
        products[4] = add_products(lower.x, w4, products[4]);
        products[5] = add_products(lower.y, w4, products[5]);
        products[6] = add_products(lower.z, w4, products[6]);
        products[7] = add_products(lower.w, w4, products[7]);
      }
      if (HALF_PRODUCTS && k % 4u == 3u) { add_up(&products, &sums); }
    }
  }
  if (!HALF_PRODUCTS) { add_up(&products, &sums); }

  for (var i = 0u; i < ROWS; i++) {
    put_columns(first_row + row + i, first_column + column, group, sums[0]);
    sums[0] = sums[1];
    sums[1] = sums[2];
    sums[2] = sums[3];
    sums[3] = sums[4];
    sums[4] = sums[5];
    sums[5] = sums[6];
    sums[6] = sums[7];
  }
}

fn add_up(products: ptr<function, array<Products, 8>>, sums: ptr<function, array<Sums, 8>>) {
  (*sums)[0] += Sums((*products)[0]);
  (*sums)[1] += Sums((*products)[1]);
  (*sums)[2] += Sums((*products)[2]);
  (*sums)[3] += Sums((*products)[3]);
  (*sums)[4] += Sums((*products)[4]);
  (*sums)[5] += Sums((*products)[5]);
  (*sums)[6] += Sums((*products)[6]);
  (*sums)[7] += Sums((*products)[7]);
  *products = array<Products, 8>();
}

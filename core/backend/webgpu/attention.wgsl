// Softmax attention of one head of one sequence over a tile of 16 queries, 64 keys at a time with a running maximum and sum (Milakov and
// Gimelshein 2018, arXiv 1805.02867), and DeBERTa's position terms, gathered by slot from the products of linear_tile.wgsl. Workgroup:
// (query tile, head, sequence); heads wider than 64 columns use several, which compute the same scores for 64 columns each. Scores stay in
// the workgroup.
//
// A thread computes 4 x 4 scores, of four queries and four keys, and 4 x 4 results, of the same queries and four columns: 16 sums per two
// vec4s of workgroup memory. Its keys and columns are 16 apart. Tiles have the layout of linear_tile.wgsl: 16 columns of the head by
// queries or keys; then 16 keys by columns.
const QUERIES = 16u;
const KEYS = 64u;
const COLUMNS = 64u;
const STEP = 16u;
const LANES = 16u;          // threads that share four queries
const THREADS = 64u;
const LOWEST = -3.4e38;
// In vec4s, padded so that adjacent writing threads do not share a bank.
const QUERY_PITCH = 6u;
const KEY_PITCH = 18u;
const WEIGHT_PITCH = 5u;

struct Params {
  scale: f32,
  query_first: u32,
  query_stride: u32,
  key_first: u32,
  key_stride: u32,
  value_first: u32,
  value_stride: u32,
  out_first: u32,
  out_stride: u32,
  first_head: u32,      // number of the first head in this dispatch
  position_stride: u32, // floats per row of both position products: heads of this dispatch * slots
  slots: u32,           // slots of a head in the position products
  first_slot: u32,
  reach: u32,
  has_position_key: u32,
  has_position_query: u32,
  has_position_bias: u32,
  bias_first: u32,
  bias_stride: u32,
  head_dim: u32,
  window: u32,          // maximum distance of a key
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> starts: array<u32>;       // [sequences + 1]
@group(0) @binding(2) var<storage, read> query: array<f32>;
@group(0) @binding(3) var<storage, read> key: array<f32>;
@group(0) @binding(4) var<storage, read> value: array<f32>;
@group(0) @binding(5) var<storage, read> slots: array<u32>;        // [2 reach - 1]
@group(0) @binding(6) var<storage, read> to_position: array<f32>;  // query_i . position_key[slot]   [rows, heads, slots]
                                                                    // or the biases   [slots, all heads]
@group(0) @binding(7) var<storage, read> to_content: array<f32>;   // key_j . position_query[slot]   [rows, heads, slots]
@group(0) @binding(8) var<storage, read_write> out: array<f32>;

var<workgroup> query_tile: array<vec4f, STEP * QUERY_PITCH>;
var<workgroup> key_tile: array<vec4f, STEP * KEY_PITCH>;      // keys, then values
var<workgroup> weights: array<vec4f, KEYS * WEIGHT_PITCH>;    // weights of four queries, indexed by key
var<workgroup> partial: array<vec4f, LANES * WEIGHT_PITCH>;   // results of four queries, indexed by lane

// The score of query i and key j of the sequence at row `start`, without the content-to-position term.
fn position_score(start: u32, head: u32, i: u32, j: u32) -> f32 {
  var score = 0.0;
  if (params.has_position_key + params.has_position_query != 0u) {
    let slot = head * params.slots + slots[i + params.reach - 1u - j] - params.first_slot;
    if (params.has_position_key != 0u) { score += to_position[(start + i) * params.position_stride + slot]; }
    if (params.has_position_query != 0u) { score += to_content[(start + j) * params.position_stride + slot]; }
  }
  if (params.has_position_bias != 0u) {
    let place = slots[i + params.reach - 1u - j] * params.bias_stride + params.first_head + head;
    score = to_position[params.bias_first + place] / params.scale;
  }
  return score;
}

// Scores of one query and four keys.
fn position_scores(start: u32, head: u32, i: u32, j: vec4u) -> vec4f {
  return vec4f(position_score(start, head, i, j.x), position_score(start, head, i, j.y),
               position_score(start, head, i, j.z), position_score(start, head, i, j.w));
}

// Four columns of a head, starting at d; zeros past the head.
fn query_at(row: u32, d: u32) -> vec4f {
  var v = vec4f();
  if (d < params.head_dim) { v.x = query[row + d]; }
  if (d + 1u < params.head_dim) { v.y = query[row + d + 1u]; }
  if (d + 2u < params.head_dim) { v.z = query[row + d + 2u]; }
  if (d + 3u < params.head_dim) { v.w = query[row + d + 3u]; }
  return v;
}

fn key_at(row: u32, d: u32) -> vec4f {
  var v = vec4f();
  if (d < params.head_dim) { v.x = key[row + d]; }
  if (d + 1u < params.head_dim) { v.y = key[row + d + 1u]; }
  if (d + 2u < params.head_dim) { v.z = key[row + d + 2u]; }
  if (d + 3u < params.head_dim) { v.w = key[row + d + 3u]; }
  return v;
}

// Four columns of a value, 16 apart.
fn value_at(row: u32, column: u32) -> vec4f {
  var v = vec4f();
  if (column < params.head_dim) { v.x = value[row + column]; }
  if (column + 16u < params.head_dim) { v.y = value[row + column + 16u]; }
  if (column + 32u < params.head_dim) { v.z = value[row + column + 32u]; }
  if (column + 48u < params.head_dim) { v.w = value[row + column + 48u]; }
  return v;
}

fn query_block(rows: vec4u, d: u32) -> mat4x4f {
  return transpose(mat4x4f(query_at(rows.x, d), query_at(rows.y, d), query_at(rows.z, d), query_at(rows.w, d)));
}

fn key_block(rows: vec4u, d: u32) -> mat4x4f {
  return transpose(mat4x4f(key_at(rows.x, d), key_at(rows.y, d), key_at(rows.z, d), key_at(rows.w, d)));
}

fn value_block(rows: vec4u, column: u32) -> mat4x4f {
  return mat4x4f(value_at(rows.x, column), value_at(rows.y, column), value_at(rows.z, column), value_at(rows.w, column));
}

// Whether each of four keys is within a query's window.
fn near(i: u32, keys: vec4u) -> vec4<bool> {
  return (keys <= vec4u(i + params.window)) & (keys + params.window >= vec4u(i));
}

fn highest_of(v: vec4f) -> f32 {
  return max(max(v.x, v.y), max(v.z, v.w));
}

fn sum_of(v: vec4f) -> f32 {
  return v.x + v.y + (v.z + v.w);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  let start = starts[workgroup.z];
  let length = starts[workgroup.z + 1u] - start;
  let first_query = workgroup.x * QUERIES;
  if (first_query >= length) { return; }
  let blocks = (params.head_dim + COLUMNS - 1u) / COLUMNS;
  let head = workgroup.y / blocks;
  let head_first = (params.first_head + head) * params.head_dim;
  let last = vec4u(length - 1u);  // rows outside repeat the last one

  let lane = thread % LANES;
  let four = thread / LANES;      // this thread's group of four queries
  let d_quad = thread % 4u;       // the columns that this thread loads of a block
  let place = thread / 4u;        // and the rows
  let column = workgroup.y % blocks * COLUMNS + lane;
  let query_rows = params.query_first + head_first +
                   (start + min(vec4u(first_query + 4u * place) + vec4u(0u, 1u, 2u, 3u), last)) * params.query_stride;

  var context: array<vec4f, 4>;   // one per query; every index is a literal
  var largest = vec4f(LOWEST);    // one per query
  var sums = vec4f();             // one per query: sum over this thread's keys
  let begin_key = (max(first_query, params.window) - params.window) / KEYS * KEYS;
  let end_key = min(length, first_query + QUERIES + params.window);
  for (var first_key = begin_key; first_key < end_key; first_key += KEYS) {
    let key_rows = params.key_first + head_first +
                   (start + min(vec4u(first_key + place) + vec4u(0u, 1u, 2u, 3u) * LANES, last)) * params.key_stride;
    var scores = array<vec4f, 4>();  // explicit, because SwiftShader keeps a loop variable's last value
    var query_next: mat4x4f;
    if (thread < QUERIES) { query_next = query_block(query_rows, 4u * d_quad); }
    var key_next = key_block(key_rows, 4u * d_quad);
    for (var d = 0u; d < params.head_dim; d += STEP) {
      workgroupBarrier();
      if (thread < QUERIES) {
        query_tile[d_quad * QUERY_PITCH + place] = query_next[0];
        query_tile[(d_quad + 4u) * QUERY_PITCH + place] = query_next[1];
        query_tile[(d_quad + 8u) * QUERY_PITCH + place] = query_next[2];
        query_tile[(d_quad + 12u) * QUERY_PITCH + place] = query_next[3];
      }
      key_tile[d_quad * KEY_PITCH + place] = key_next[0];
      key_tile[(d_quad + 4u) * KEY_PITCH + place] = key_next[1];
      key_tile[(d_quad + 8u) * KEY_PITCH + place] = key_next[2];
      key_tile[(d_quad + 12u) * KEY_PITCH + place] = key_next[3];
      workgroupBarrier();
      if (d + STEP < params.head_dim) {
        if (thread < QUERIES) { query_next = query_block(query_rows, d + STEP + 4u * d_quad); }
        key_next = key_block(key_rows, d + STEP + 4u * d_quad);
      }
      for (var k = 0u; k < STEP; k++) {
        let q = query_tile[k * QUERY_PITCH + four];
        let keys = key_tile[k * KEY_PITCH + lane];
        scores[0] = fma(vec4f(q.x), keys, scores[0]);
        scores[1] = fma(vec4f(q.y), keys, scores[1]);
        scores[2] = fma(vec4f(q.z), keys, scores[2]);
        scores[3] = fma(vec4f(q.w), keys, scores[3]);
      }
    }

    // Loads values while weights are computed: four keys, in each of this thread's columns.
    let value_row = params.value_first + head_first;
    let value_keys = vec4u(first_key + four) + vec4u(0u, 4u, 8u, 12u);
    var value_next = value_block(value_row + (start + min(value_keys, last)) * params.value_stride, column);

    let keys = vec4u(first_key + lane) + vec4u(0u, 1u, 2u, 3u) * LANES;
    let inside = keys < vec4u(length);
    for (var i = 0u; i < 4u; i++) {
      let query_row = min(first_query + 4u * four + i, length - 1u);
      let score = (scores[0] + position_scores(start, head, query_row, min(keys, last))) * params.scale;
      scores[0] = scores[1];
      scores[1] = scores[2];
      scores[2] = scores[3];
      scores[3] = select(vec4f(LOWEST), score, inside & near(query_row, keys));
    }
    partial[lane * WEIGHT_PITCH + four] =
        vec4f(highest_of(scores[0]), highest_of(scores[1]), highest_of(scores[2]), highest_of(scores[3]));
    workgroupBarrier();
    let first_row = first_query + 4u * four;
    let before = largest;
    for (var l = 0u; l < LANES; l++) { largest = max(largest, partial[l * WEIGHT_PITCH + four]); }
    let rescale = exp(before - largest);
    scores[0] = select(vec4f(), exp(scores[0] - largest.x), inside & near(first_row + 0u, keys));
    scores[1] = select(vec4f(), exp(scores[1] - largest.y), inside & near(first_row + 1u, keys));
    scores[2] = select(vec4f(), exp(scores[2] - largest.z), inside & near(first_row + 2u, keys));
    scores[3] = select(vec4f(), exp(scores[3] - largest.w), inside & near(first_row + 3u, keys));
    sums = sums * rescale + vec4f(sum_of(scores[0]), sum_of(scores[1]), sum_of(scores[2]), sum_of(scores[3]));
    context[0] *= rescale.x;
    context[1] *= rescale.y;
    context[2] *= rescale.z;
    context[3] *= rescale.w;
    weights[lane * WEIGHT_PITCH + four] = vec4f(scores[0].x, scores[1].x, scores[2].x, scores[3].x);
    weights[(lane + 16u) * WEIGHT_PITCH + four] = vec4f(scores[0].y, scores[1].y, scores[2].y, scores[3].y);
    weights[(lane + 32u) * WEIGHT_PITCH + four] = vec4f(scores[0].z, scores[1].z, scores[2].z, scores[3].z);
    weights[(lane + 48u) * WEIGHT_PITCH + four] = vec4f(scores[0].w, scores[1].w, scores[2].w, scores[3].w);

    for (var j = 0u; j < KEYS && first_key + j < end_key; j += STEP) {
      workgroupBarrier();
      key_tile[four * KEY_PITCH + lane] = value_next[0];
      key_tile[(four + 4u) * KEY_PITCH + lane] = value_next[1];
      key_tile[(four + 8u) * KEY_PITCH + lane] = value_next[2];
      key_tile[(four + 12u) * KEY_PITCH + lane] = value_next[3];
      workgroupBarrier();
      if (j + STEP < KEYS) {
        value_next = value_block(value_row + (start + min(value_keys + j + STEP, last)) * params.value_stride, column);
      }
      for (var k = 0u; k < STEP; k++) {
        let weight = weights[(j + k) * WEIGHT_PITCH + four];
        let columns = key_tile[k * KEY_PITCH + lane];
        context[0] = fma(vec4f(weight.x), columns, context[0]);
        context[1] = fma(vec4f(weight.y), columns, context[1]);
        context[2] = fma(vec4f(weight.z), columns, context[2]);
        context[3] = fma(vec4f(weight.w), columns, context[3]);
      }
    }
  }

  partial[lane * WEIGHT_PITCH + four] = sums;
  workgroupBarrier();
  var total = vec4f();
  for (var l = 0u; l < LANES; l++) { total += partial[l * WEIGHT_PITCH + four]; }
  for (var i = 0u; i < 4u; i++) {
    let row = first_query + 4u * four + i;
    var rest = context[0] / total.x;
    for (var c = column; c < column + COLUMNS; c += LANES) {
      if (row < length && c < params.head_dim) {
        out[params.out_first + (start + row) * params.out_stride + head_first + c] = rest.x;
      }
      rest = rest.yzwx;
    }
    context[0] = context[1];
    context[1] = context[2];
    context[2] = context[3];
    total = total.yzwx;
  }
}

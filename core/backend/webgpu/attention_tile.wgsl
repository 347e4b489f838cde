// Softmax attention of one head of one sequence over a tile of 16 queries, 64 keys at a time with a running maximum and sum (Milakov and
// Gimelshein 2018, arXiv 1805.02867), and DeBERTa's position terms, gathered by slot from the products of linear_tile.wgsl. Workgroup:
// (query tile, head, sequence); heads wider than 64 columns use several, which compute the same scores for 64 columns each. Scores stay in
// the workgroup. The including shader reads and writes four columns of a head: query_at, key_at, value_at, put. Its function `inside` replaces
// columns past the head by zeros before they are multiplied. With KEY_BY_KEY, threads with two queries load one key after the other, which
// needs fewer registers.
//
// A thread computes 4 x 4 scores, of four queries, four apart, and four keys, 16 apart, and 4 x 4 results, of the same queries and four
// adjacent columns. Tiles in workgroup memory are rows along the columns of a head. As in linear_tile.wgsl, all loads are unconditional, and
// rows outside repeat the last one.
//
// On GPUs with few registers a thread has two queries, eight apart, and does not load ahead. Compilers remove the code for the other two, whose
// results are not used. recorder.cc defines EACH, the number of queries, Each, a value for each of them, and each and four_of, which convert
// between Each and vec4f.
const QUERIES = 16u;
const KEYS = 64u;
const COLUMNS = 64u;
const STEP = 16u;
const LANES = 16u;                   // threads that share queries
const ROW_THREADS = QUERIES / EACH;  // a thread's queries are this far apart
const THREADS = LANES * ROW_THREADS;
const LOWEST = -3.4e38;
// In vec4s, padded against bank conflicts.
const PITCH = STEP / 4u + 1u;
const VALUE_PITCH = COLUMNS / 4u + 1u;
const EACH_PITCH = ROW_THREADS + 1u;  // in Eachs

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
  groups: u32,          // 65536 / (number of heads that share keys and values), rounded up: a division takes tens of instructions
  before: u32,          // query i attends to the keys i - before .. i + after
  after: u32,
  key_limit: u32,       // keys from this number on are not read
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> starts: array<u32>;       // [sequences + 1]
@group(0) @binding(5) var<storage, read> slots: array<u32>;        // [2 reach - 1]
@group(0) @binding(6) var<storage, read> to_position: array<f32>;  // query_i . position_key[slot]   [rows, heads, slots]
                                                                    // or the biases   [slots, all heads]
@group(0) @binding(7) var<storage, read> to_content: array<f32>;   // key_j . position_query[slot]   [rows, heads, slots]

var<workgroup> query_tile: array<vec4f, QUERIES * PITCH>;
var<workgroup> key_tile: array<vec4f, KEYS * PITCH>;      // keys, then STEP * VALUE_PITCH of values
var<workgroup> weights: array<Each, KEYS * EACH_PITCH>;    // weights of a thread's queries, indexed by key
var<workgroup> partial: array<Each, LANES * EACH_PITCH>;   // results of a thread's queries, indexed by lane

fn slots_at(places: vec4u) -> vec4u {
  return vec4u(slots[places.x], slots[places.y], slots[places.z], slots[places.w]);
}

fn to_position_at(places: vec4u) -> vec4f {
  return vec4f(to_position[places.x], to_position[places.y], to_position[places.z], to_position[places.w]);
}

fn to_content_at(places: vec4u) -> vec4f {
  return vec4f(to_content[places.x], to_content[places.y], to_content[places.z], to_content[places.w]);
}

// Whether each of four keys is within a query's window.
fn near(i: u32, keys: vec4u) -> vec4<bool> {
  return (keys <= vec4u(i + params.after)) & (keys + params.before >= vec4u(i));
}

fn highest_of(v: vec4f) -> f32 {
  return max(max(v.x, v.y), max(v.z, v.w));
}

fn sum_of(v: vec4f) -> f32 {
  return v.x + v.y + (v.z + v.w);
}

fn key_block(rows: vec4u, d: u32) -> mat4x4f {
  return mat4x4f(key_at(rows.x, d), key_at(rows.y, d), key_at(rows.z, d), key_at(rows.w, d));
}

fn value_block(rows: vec4u, column: u32) -> mat4x4f {
  return mat4x4f(value_at(rows.x, column), value_at(rows.y, column), value_at(rows.z, column), value_at(rows.w, column));
}

// Adds four columns' products of a query and four keys, in order.
fn add_quads(q: vec4f, a: vec4f, b: vec4f, c: vec4f, d: vec4f, before: vec4f) -> vec4f {
  var sums = fma(vec4f(q.x), vec4f(a.x, b.x, c.x, d.x), before);
  sums = fma(vec4f(q.y), vec4f(a.y, b.y, c.y, d.y), sums);
  sums = fma(vec4f(q.z), vec4f(a.z, b.z, c.z, d.z), sums);
  return fma(vec4f(q.w), vec4f(a.w, b.w, c.w, d.w), sums);
}

// The same for one key.
fn add_quad(q: vec4f, k: vec4f, before: f32) -> f32 {
  return fma(q.w, k.w, fma(q.z, k.z, fma(q.y, k.y, fma(q.x, k.x, before))));
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
  let key_head_first = (((params.first_head + head) * params.groups) >> 16u) * params.head_dim;
  let last = vec4u(length - 1u);
  let last_columns = (params.head_dim - 1u) / STEP * STEP;

  let lane = thread % LANES;
  let own = thread / LANES;       // this thread's queries: own, own + ROW_THREADS, ...
  let d = thread % 4u * 4u;       // the columns that this thread loads of a tile,
  let place = thread / 4u;        // and the rows
  let tile_place = place * PITCH + thread % 4u;
  let query_row = params.query_first + head_first + (start + min(first_query + place, last.x)) * params.query_stride;
  var context: array<vec4f, 4>;   // one per query; every index is a literal
  var largest = vec4f(LOWEST);    // one per query
  var sums = vec4f();             // one per query: sum over this thread's keys
  let begin_key = (max(first_query, params.before) - params.before) / KEYS * KEYS;
  let key_count = min(length, params.key_limit);
  let end_key = min(key_count, first_query + QUERIES + params.after);
  for (var first_key = begin_key; first_key < end_key; first_key += KEYS) {
    let key_rows = params.key_first + key_head_first +
                   (start + min(vec4u(first_key + place) + vec4u(0u, 1u, 2u, 3u) * (THREADS / 4u), last)) * params.key_stride;
    var scores = array<vec4f, 4>();  // explicit, because SwiftShader keeps a loop variable's last value
    var query_next = query_at(query_row, d);
    var key_next = key_block(key_rows, d);
    for (var d0 = 0u; d0 < params.head_dim; d0 += STEP) {
      if (EACH == 2u && !KEY_BY_KEY) {
        query_next = query_at(query_row, d0 + d);
        key_next = key_block(key_rows, d0 + d);
      }
      workgroupBarrier();
      if (EACH == 2u && KEY_BY_KEY) {
        if (tile_place < QUERIES * PITCH) { query_tile[tile_place] = inside(query_at(query_row, d0 + d), d0 + d); }
        for (var i = 0u; i < 2u && i < length; i++) {  // an unknown end; without a second key, its scores are not used
          key_tile[tile_place + i * (THREADS / 4u * PITCH)] = inside(key_at(select(key_rows.x, key_rows.y, i == 1u), d0 + d), d0 + d);
        }
      } else {
        if (EACH == 4u || tile_place < QUERIES * PITCH) { query_tile[tile_place] = inside(query_next, d0 + d); }
        key_tile[tile_place] = inside(key_next[0], d0 + d);
        key_tile[tile_place + THREADS / 4u * PITCH] = inside(key_next[1], d0 + d);
      }
      if (EACH == 4u) {
        key_tile[tile_place + 32u * PITCH] = inside(key_next[2], d0 + d);
        key_tile[tile_place + 48u * PITCH] = inside(key_next[3], d0 + d);
      }
      workgroupBarrier();
      if (EACH == 4u) {
        let next = min(d0 + STEP, last_columns) + d;
        query_next = query_at(query_row, next);
        key_next = key_block(key_rows, next);
      }
      for (var q = 0u; q < STEP / 4u; q++) {
        if (EACH == 2u && q >= params.head_dim) { break; }  // compilers cannot unroll a loop with an unknown end
        if (EACH == 2u) {
          // One key after the other, which needs fewer registers.
          let q0 = query_tile[own * PITCH + q];
          let q1 = query_tile[(own + ROW_THREADS) * PITCH + q];
          for (var i = 0u; i < 4u; i++) {
            let k = key_tile[(lane + i * LANES) * PITCH + q];
            scores[0][i] = add_quad(q0, k, scores[0][i]);
            scores[1][i] = add_quad(q1, k, scores[1][i]);
          }
          continue;
        }
        let k0 = key_tile[lane * PITCH + q];
        let k1 = key_tile[(lane + 16u) * PITCH + q];
        let k2 = key_tile[(lane + 32u) * PITCH + q];
        let k3 = key_tile[(lane + 48u) * PITCH + q];
        scores[0] = add_quads(query_tile[own * PITCH + q], k0, k1, k2, k3, scores[0]);
        scores[1] = add_quads(query_tile[(own + 1u * ROW_THREADS) * PITCH + q], k0, k1, k2, k3, scores[1]);
        scores[2] = add_quads(query_tile[(own + 2u * ROW_THREADS) * PITCH + q], k0, k1, k2, k3, scores[2]);
        scores[3] = add_quads(query_tile[(own + 3u * ROW_THREADS) * PITCH + q], k0, k1, k2, k3, scores[3]);
      }
    }

    if (params.has_position_key + params.has_position_query + params.has_position_bias != 0u) {
      let queries = first_query + min(vec4u(own) + vec4u(0u, 1u, 2u, 3u) * ROW_THREADS, last - first_query);
      let key_places = first_key + min(vec4u(lane) + vec4u(0u, 1u, 2u, 3u) * LANES, last - first_key);
      let distances = vec4u(params.reach - 1u) - key_places;
      var slots0 = slots_at(distances + queries.x);
      var slots1 = slots_at(distances + queries.y);
      var slots2 = slots_at(distances + queries.z);
      var slots3 = slots_at(distances + queries.w);
      if (params.has_position_bias != 0u) {
        let bias = params.bias_first + params.first_head + head;
        scores[0] += to_position_at(slots0 * params.bias_stride + bias) / params.scale;
        scores[1] += to_position_at(slots1 * params.bias_stride + bias) / params.scale;
        scores[2] += to_position_at(slots2 * params.bias_stride + bias) / params.scale;
        scores[3] += to_position_at(slots3 * params.bias_stride + bias) / params.scale;
      } else {
        let first = head * params.slots - params.first_slot;
        slots0 += first;
        slots1 += first;
        slots2 += first;
        slots3 += first;
        var terms = array<vec4f, 4>();
        if (params.has_position_key != 0u) {
          let places = (start + queries) * params.position_stride;
          terms[0] = to_position_at(slots0 + places.x);
          terms[1] = to_position_at(slots1 + places.y);
          terms[2] = to_position_at(slots2 + places.z);
          terms[3] = to_position_at(slots3 + places.w);
        }
        if (params.has_position_query != 0u) {
          let places = (start + key_places) * params.position_stride;
          terms[0] += to_content_at(slots0 + places);
          terms[1] += to_content_at(slots1 + places);
          terms[2] += to_content_at(slots2 + places);
          terms[3] += to_content_at(slots3 + places);
        }
        scores[0] += terms[0];
        scores[1] += terms[1];
        scores[2] += terms[2];
        scores[3] += terms[3];
      }
    }
    // Loads values while weights are computed: of four keys, in each of this thread's columns.
    let near_column = min(workgroup.y % blocks * COLUMNS + 4u * lane, (params.head_dim - 1u) / 4u * 4u);
    let value_row = params.value_first + key_head_first + start * params.value_stride;
    let last_value = value_row + last * params.value_stride;
    var value_rows = min(value_row + (vec4u(first_key + own) + vec4u(0u, 1u, 2u, 3u) * ROW_THREADS) * params.value_stride, last_value);
    var value_next = value_block(value_rows, near_column);

    let rows = vec4u(first_query + own) + vec4u(0u, 1u, 2u, 3u) * ROW_THREADS;
    let keys = vec4u(first_key + lane) + vec4u(0u, 1u, 2u, 3u) * LANES;
    let inside = keys < vec4u(key_count);
    scores[0] = select(vec4f(LOWEST), scores[0] * params.scale, inside & near(rows.x, keys));
    scores[1] = select(vec4f(LOWEST), scores[1] * params.scale, inside & near(rows.y, keys));
    scores[2] = select(vec4f(LOWEST), scores[2] * params.scale, inside & near(rows.z, keys));
    scores[3] = select(vec4f(LOWEST), scores[3] * params.scale, inside & near(rows.w, keys));
    partial[lane * EACH_PITCH + own] =
        each(vec4f(highest_of(scores[0]), highest_of(scores[1]), highest_of(scores[2]), highest_of(scores[3])));
    workgroupBarrier();
    let before = largest;
    for (var l = 0u; l < LANES; l++) { largest = max(largest, four_of(partial[l * EACH_PITCH + own])); }
    let rescale = exp(before - largest);
    scores[0] = select(vec4f(), exp(scores[0] - largest.x), inside & near(rows.x, keys));
    scores[1] = select(vec4f(), exp(scores[1] - largest.y), inside & near(rows.y, keys));
    scores[2] = select(vec4f(), exp(scores[2] - largest.z), inside & near(rows.z, keys));
    scores[3] = select(vec4f(), exp(scores[3] - largest.w), inside & near(rows.w, keys));
    sums = sums * rescale + vec4f(sum_of(scores[0]), sum_of(scores[1]), sum_of(scores[2]), sum_of(scores[3]));
    context[0] *= rescale.x;
    context[1] *= rescale.y;
    context[2] *= rescale.z;
    context[3] *= rescale.w;
    weights[lane * EACH_PITCH + own] = each(vec4f(scores[0].x, scores[1].x, scores[2].x, scores[3].x));
    weights[(lane + 16u) * EACH_PITCH + own] = each(vec4f(scores[0].y, scores[1].y, scores[2].y, scores[3].y));
    weights[(lane + 32u) * EACH_PITCH + own] = each(vec4f(scores[0].z, scores[1].z, scores[2].z, scores[3].z));
    weights[(lane + 48u) * EACH_PITCH + own] = each(vec4f(scores[0].w, scores[1].w, scores[2].w, scores[3].w));

    // The end is a variable: with a constant, compilers move the loads after the exit of the loop.
    let steps = (min(KEYS, end_key - first_key) + STEP - 1u) / STEP;
    for (var s = 0u; s < steps; s++) {
      let first_weight = min(s, 3u) * STEP * EACH_PITCH + own;  // min saves the check of an index
      if (EACH == 2u) { value_next = value_block(value_rows, near_column); }
      workgroupBarrier();
      key_tile[own * VALUE_PITCH + lane] = value_next[0];
      key_tile[(own + ROW_THREADS) * VALUE_PITCH + lane] = value_next[1];
      if (EACH == 4u) {
        key_tile[(own + 8u) * VALUE_PITCH + lane] = value_next[2];
        key_tile[(own + 12u) * VALUE_PITCH + lane] = value_next[3];
      }
      workgroupBarrier();
      value_rows = min(value_rows + STEP * params.value_stride, last_value);
      if (EACH == 4u) { value_next = value_block(value_rows, near_column); }
      for (var k = 0u; k < STEP; k++) {
        let weight = four_of(weights[first_weight + k * EACH_PITCH]);
        let columns = key_tile[k * VALUE_PITCH + lane];
        context[0] = fma(vec4f(weight.x), columns, context[0]);
        context[1] = fma(vec4f(weight.y), columns, context[1]);
        context[2] = fma(vec4f(weight.z), columns, context[2]);
        context[3] = fma(vec4f(weight.w), columns, context[3]);
      }
    }
  }

  partial[lane * EACH_PITCH + own] = each(sums);
  workgroupBarrier();
  var total = vec4f();
  for (var l = 0u; l < LANES; l++) { total += four_of(partial[l * EACH_PITCH + own]); }
  let column = workgroup.y % blocks * COLUMNS + 4u * lane;
  for (var i = 0u; i < EACH; i++) {
    let row = first_query + own + ROW_THREADS * i;
    if (row < length) {
      put(params.out_first + (start + row) * params.out_stride + head_first, column, context[0] / total.x);
    }
    // Rotates, because compilers that do not unroll this loop would keep an array with a variable index in memory, also in the loops above.
    context[0] = context[1];
    context[1] = context[2];
    context[2] = context[3];
    total = total.yzwx;
  }
}

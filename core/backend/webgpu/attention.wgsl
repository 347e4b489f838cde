// Softmax attention of one head of one sequence over a tile of QUERIES queries, keys KEYS at a time with a running
// maximum and sum (Milakov and Gimelshein 2018, arXiv 1805.02867), and DeBERTa's position terms gathered by slot from
// the products that linear.wgsl made. Workgroup: (query tile, head, sequence). No score leaves the workgroup.
override HEAD_DIM: u32 = 64u;
override QUERIES: u32 = 16u;  // QUERIES * HEAD_DIM <= 1024
override KEYS: u32 = 31u;     // KEYS * (HEAD_DIM + 1) <= 2048

const THREADS = 128u;
const PER_THREAD = 8u;        // outputs a thread keeps: THREADS * PER_THREAD >= QUERIES * HEAD_DIM
const LOWEST = -3.4e38;

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
  first_head: u32,      // of the heads that this dispatch covers
  position_stride: u32, // of both position products: heads here * slots here
  slots: u32,           // slots of a head in the position products
  first_slot: u32,
  reach: u32,
  has_position_key: u32,
  has_position_query: u32,
  has_position_bias: u32,
  bias_first: u32,
  bias_stride: u32,
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

const KEY_PAD = 1u;  // against bank conflicts
override KEY_ROW: u32 = HEAD_DIM + KEY_PAD;

var<workgroup> query_tile: array<f32, QUERIES * HEAD_DIM>;
var<workgroup> key_tile: array<f32, KEYS * KEY_ROW>;  // keys, then values
var<workgroup> scores: array<f32, QUERIES * KEYS>;
var<workgroup> largest: array<f32, QUERIES>;
var<workgroup> rescale: array<f32, QUERIES>;
var<workgroup> sums: array<f32, QUERIES>;

// The score of query i and key j of the sequence that starts at row `start`, without the content term.
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

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  let start = starts[workgroup.z];
  let length = starts[workgroup.z + 1u] - start;
  let first_query = workgroup.x * QUERIES;
  if (first_query >= length) { return; }
  let head = workgroup.y;
  let head_first = (params.first_head + head) * HEAD_DIM;

  for (var e = thread; e < QUERIES * HEAD_DIM; e += THREADS) {
    let i = min(first_query + e / HEAD_DIM, length - 1u);
    query_tile[e] = query[params.query_first + (start + i) * params.query_stride + head_first + e % HEAD_DIM];
  }
  if (thread < QUERIES) {
    largest[thread] = LOWEST;
    sums[thread] = 0.0;
  }
  var context: array<f32, PER_THREAD>;

  for (var first_key = 0u; first_key < length; first_key += KEYS) {
    let keys = min(KEYS, length - first_key);
    workgroupBarrier();
    for (var e = thread; e < keys * HEAD_DIM; e += THREADS) {
      let j = e / HEAD_DIM;
      let d = e % HEAD_DIM;
      key_tile[j * KEY_ROW + d] = key[params.key_first + (start + first_key + j) * params.key_stride + head_first + d];
    }
    workgroupBarrier();
    for (var e = thread; e < QUERIES * KEYS; e += THREADS) {
      let i = e / KEYS;
      let j = e % KEYS;
      if (first_query + i >= length || j >= keys) { continue; }
      var score = position_score(start, head, first_query + i, first_key + j);
      for (var d = 0u; d < HEAD_DIM; d++) { score += query_tile[i * HEAD_DIM + d] * key_tile[j * KEY_ROW + d]; }
      scores[e] = score * params.scale;
    }
    workgroupBarrier();
    if (thread < QUERIES && first_query + thread < length) {
      var highest = largest[thread];
      for (var j = 0u; j < keys; j++) { highest = max(highest, scores[thread * KEYS + j]); }
      rescale[thread] = exp(largest[thread] - highest);
      largest[thread] = highest;
    }
    for (var e = thread; e < keys * HEAD_DIM; e += THREADS) {
      let j = e / HEAD_DIM;
      let d = e % HEAD_DIM;
      key_tile[j * KEY_ROW + d] =
          value[params.value_first + (start + first_key + j) * params.value_stride + head_first + d];
    }
    workgroupBarrier();
    for (var e = thread; e < QUERIES * KEYS; e += THREADS) {
      let i = e / KEYS;
      if (first_query + i < length && e % KEYS < keys) { scores[e] = exp(scores[e] - largest[i]); }
    }
    workgroupBarrier();
    if (thread < QUERIES && first_query + thread < length) {
      var sum = sums[thread] * rescale[thread];
      for (var j = 0u; j < keys; j++) { sum += scores[thread * KEYS + j]; }
      sums[thread] = sum;
    }
    for (var r = 0u; r < PER_THREAD; r++) {
      let e = thread + r * THREADS;
      let i = e / HEAD_DIM;
      if (i >= QUERIES || first_query + i >= length) { continue; }
      var sum = context[r] * rescale[i];
      for (var j = 0u; j < keys; j++) { sum += scores[i * KEYS + j] * key_tile[j * KEY_ROW + e % HEAD_DIM]; }
      context[r] = sum;
    }
  }

  workgroupBarrier();
  for (var r = 0u; r < PER_THREAD; r++) {
    let e = thread + r * THREADS;
    let i = e / HEAD_DIM;
    if (i >= QUERIES || first_query + i >= length) { continue; }
    out[params.out_first + (start + first_query + i) * params.out_stride + head_first + e % HEAD_DIM] =
        context[r] / sums[i];
  }
}

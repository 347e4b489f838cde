// out[i, c] = sum over j of weights[i, j] value[j, c]; weights is a softmax over j or i (core/ops/cross_attention.h).
const THREADS = 64u;

struct Params {
  queries: u32,
  keys: u32,
  heads: u32,
  columns: u32,
  over_queries: u32,
  value_first: u32,
  value_stride: u32,
  out_first: u32,
  out_stride: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> scores: array<f32>;
@group(0) @binding(2) var<storage, read> value: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

fn score(i: u32, j: u32, head: u32) -> f32 {
  return scores[(i * params.heads + head) * params.keys + j];
}

// The maximum score of query i, or of key j, and the sum of exp(score - maximum).
fn softmax_of(i: u32, j: u32, head: u32) -> vec2f {
  let over_queries = params.over_queries != 0u;
  let count = select(params.keys, params.queries, over_queries);
  var largest = -3.4e38;
  for (var k = 0u; k < count; k++) {
    largest = max(largest, score(select(i, k, over_queries), select(k, j, over_queries), head));
  }
  var sum = 0.0;
  for (var k = 0u; k < count; k++) {
    sum += exp(score(select(i, k, over_queries), select(k, j, over_queries), head) - largest);
  }
  return vec2f(largest, sum);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
  for (var e = id.x; e < params.queries * params.columns; e += workgroups.x * THREADS) {
    let i = e / params.columns;
    let c = e % params.columns;
    let head = c / (params.columns / params.heads);
    var softmax = softmax_of(i, 0u, head);
    var result = 0.0;
    for (var j = 0u; j < params.keys; j++) {
      if (params.over_queries != 0u && j > 0u) { softmax = softmax_of(i, j, head); }
      let weight = exp(score(i, j, head) - softmax.x) / softmax.y;
      result += weight * value[params.value_first + j * params.value_stride + c];
    }
    out[params.out_first + i * params.out_stride + c] = result;
  }
}

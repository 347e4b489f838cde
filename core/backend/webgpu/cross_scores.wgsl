// scores[query * heads + head, key] = scale query . key, over the head's columns (core/ops/cross_attention.h).
const THREADS = 64u;

struct Params {
  scale: f32,
  queries: u32,
  keys: u32,
  heads: u32,
  depth: u32,
  query_first: u32,
  query_stride: u32,
  key_first: u32,
  key_stride: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> query: array<f32>;
@group(0) @binding(2) var<storage, read> key: array<f32>;
@group(0) @binding(3) var<storage, read_write> scores: array<f32>;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
  for (var e = id.x; e < params.queries * params.heads * params.keys; e += workgroups.x * THREADS) {
    let j = e % params.keys;
    let head = e / params.keys % params.heads;
    let i = e / params.keys / params.heads;
    let a = params.query_first + i * params.query_stride + head * params.depth;
    let b = params.key_first + j * params.key_stride + head * params.depth;
    var sum = 0.0;
    for (var c = 0u; c < params.depth; c++) { sum += query[a + c] * key[b + c]; }
    scores[e] = params.scale * sum;
  }
}

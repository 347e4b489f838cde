// Attention probabilities, for inspection: one thread per row of scores. Row (start * heads + h * length + i) is head h and query i;
// columns past the sequence's length are zero.
const THREADS = 64u;

struct Params {
  scale: f32,
  query_first: u32,
  query_stride: u32,
  key_first: u32,
  key_stride: u32,
  out_first: u32,
  out_stride: u32,
  heads: u32,
  first_head: u32,
  position_stride: u32,
  slots: u32,
  first_slot: u32,
  reach: u32,
  has_position_key: u32,
  has_position_query: u32,
  has_position_bias: u32,
  bias_first: u32,
  bias_stride: u32,
  longest: u32,
  head_dim: u32,
  groups: u32,          // see attention_tile.wgsl
  before: u32,
  after: u32,
  key_limit: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read> query: array<f32>;
@group(0) @binding(3) var<storage, read> key: array<f32>;
@group(0) @binding(4) var<storage, read> slots: array<u32>;
@group(0) @binding(5) var<storage, read> to_position: array<f32>;  // or biases: see attention.wgsl
@group(0) @binding(6) var<storage, read> to_content: array<f32>;
@group(0) @binding(7) var<storage, read_write> out: array<f32>;

fn score(start: u32, head: u32, i: u32, j: u32) -> f32 {
  let column = (params.first_head + head) * params.head_dim;
  let key_column = (((params.first_head + head) * params.groups) >> 16u) * params.head_dim;
  var sum = 0.0;
  for (var d = 0u; d < params.head_dim; d++) {
    sum += query[params.query_first + (start + i) * params.query_stride + column + d] *
           key[params.key_first + (start + j) * params.key_stride + key_column + d];
  }
  if (params.has_position_key + params.has_position_query != 0u) {
    let slot = head * params.slots + slots[i + params.reach - 1u - j] - params.first_slot;
    if (params.has_position_key != 0u) { sum += to_position[(start + i) * params.position_stride + slot]; }
    if (params.has_position_query != 0u) { sum += to_content[(start + j) * params.position_stride + slot]; }
  }
  sum *= params.scale;
  if (params.has_position_bias != 0u) {
    let place = slots[i + params.reach - 1u - j] * params.bias_stride + params.first_head + head;
    sum += to_position[params.bias_first + place];
  }
  return sum;
}

// Workgroup: (tile of queries, head, sequence).
@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  let start = starts[workgroup.z];
  let length = starts[workgroup.z + 1u] - start;
  let i = workgroup.x * THREADS + thread;
  if (i >= length) { return; }
  let head = workgroup.y;
  let row = params.out_first +
            (start * params.heads + (params.first_head + head) * length + i) * params.out_stride;
  let first = max(i, params.before) - params.before;
  let end = min(min(length, params.key_limit), i + params.after + 1u);
  var highest = score(start, head, i, first);
  for (var j = first; j < end; j++) {
    let s = score(start, head, i, j);
    out[row + j] = s;
    highest = max(highest, s);
  }
  var sum = 0.0;
  for (var j = first; j < end; j++) {
    let e = exp(out[row + j] - highest);
    out[row + j] = e;
    sum += e;
  }
  for (var j = 0u; j < params.longest; j++) { out[row + j] = select(0.0, out[row + j] / sum, j >= first && j < end); }
}

// Attention as in attention_tile.wgsl. Reads and writes single elements, zeros past the head, so any width and offset works;
// attention_aligned.wgsl reads vec4s where possible.
#include "attention_tile.wgsl"
@group(0) @binding(2) var<storage, read> query: array<f32>;
@group(0) @binding(3) var<storage, read> key: array<f32>;
@group(0) @binding(4) var<storage, read> value: array<f32>;
@group(0) @binding(8) var<storage, read_write> out: array<f32>;

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

fn value_at(row: u32, d: u32) -> vec4f {
  var v = vec4f();
  if (d < params.head_dim) { v.x = value[row + d]; }
  if (d + 1u < params.head_dim) { v.y = value[row + d + 1u]; }
  if (d + 2u < params.head_dim) { v.z = value[row + d + 2u]; }
  if (d + 3u < params.head_dim) { v.w = value[row + d + 3u]; }
  return v;
}

fn put(row: u32, d: u32, v: vec4f) {
  if (d < params.head_dim) { out[row + d] = v.x; }
  if (d + 1u < params.head_dim) { out[row + d + 1u] = v.y; }
  if (d + 2u < params.head_dim) { out[row + d + 2u] = v.z; }
  if (d + 3u < params.head_dim) { out[row + d + 3u] = v.w; }
}

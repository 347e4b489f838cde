// Attention as in attention_tile.wgsl. Reads and writes single elements, so any width and offset works; attention_aligned.wgsl reads vec4s
// where possible. A load may read past the head, and past the buffer, which WebGPU allows; no result uses such a value.
#include "attention_tile.wgsl"
const KEY_BY_KEY = true;
@group(0) @binding(2) var<storage, read> query: array<f32>;
@group(0) @binding(3) var<storage, read> key: array<f32>;
@group(0) @binding(4) var<storage, read> value: array<f32>;
@group(0) @binding(8) var<storage, read_write> out: array<f32>;

fn query_at(row: u32, d: u32) -> vec4f {
  let at = row + d;
  return vec4f(query[at], query[at + 1u], query[at + 2u], query[at + 3u]);
}

fn key_at(row: u32, d: u32) -> vec4f {
  let at = row + d;
  return vec4f(key[at], key[at + 1u], key[at + 2u], key[at + 3u]);
}

fn value_at(row: u32, d: u32) -> vec4f {
  let at = row + d;
  return vec4f(value[at], value[at + 1u], value[at + 2u], value[at + 3u]);
}

fn inside(v: vec4f, d: u32) -> vec4f {
  return select(vec4f(), v, vec4u(d) + vec4u(0u, 1u, 2u, 3u) < vec4u(params.head_dim));
}

fn put(row: u32, d: u32, v: vec4f) {
  if (d < params.head_dim) { out[row + d] = v.x; }
  if (d + 1u < params.head_dim) { out[row + d + 1u] = v.y; }
  if (d + 2u < params.head_dim) { out[row + d + 2u] = v.z; }
  if (d + 3u < params.head_dim) { out[row + d + 3u] = v.w; }
}

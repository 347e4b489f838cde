// attention.wgsl for heads of a multiple of 16 columns, and rows at multiples of four: reads and writes vec4s without bounds checks.
#include "attention_tile.wgsl"
const KEY_BY_KEY = false;
@group(0) @binding(2) var<storage, read> query: array<vec4f>;
@group(0) @binding(3) var<storage, read> key: array<vec4f>;
@group(0) @binding(4) var<storage, read> value: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> out: array<vec4f>;

fn query_at(row: u32, d: u32) -> vec4f {
  return query[row / 4u + d / 4u];
}

fn key_at(row: u32, d: u32) -> vec4f {
  return key[row / 4u + d / 4u];
}

fn value_at(row: u32, d: u32) -> vec4f {
  return value[(row + d) / 4u];
}

fn inside(v: vec4f, d: u32) -> vec4f {
  return v;
}

fn put(row: u32, d: u32, v: vec4f) {
  if (d < params.head_dim) { out[(row + d) / 4u] = v; }
}

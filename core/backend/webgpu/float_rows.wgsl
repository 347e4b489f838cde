// Reads rows of float operands as vec4s: x, an array<vec4f>, and w, an array<vec4u> (quads.wgsl).
override HALF_WEIGHTS: bool = false;  // w stores eight float16 per vec4u, otherwise four float32

fn load_x(row: u32, k: u32) -> vec4f {
  return x[(row + k) / 4u];
}

fn load_w(row: u32, k: u32) -> Eight {
  let first = row + k;
  if (HALF_WEIGHTS) { return Eight(w[first / 8u], vec4u()); }
  return Eight(w[first / 4u], w[first / 4u + 1u]);
}

fn lower(w: Eight) -> vec4f {
  if (HALF_WEIGHTS) { return vec4f(unpack2x16float(w.a.x), unpack2x16float(w.a.y)); }
  return bitcast<vec4f>(w.a);
}

fn upper(w: Eight) -> vec4f {
  if (HALF_WEIGHTS) { return vec4f(unpack2x16float(w.a.z), unpack2x16float(w.a.w)); }
  return bitcast<vec4f>(w.b);
}

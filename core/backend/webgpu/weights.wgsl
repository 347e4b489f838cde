// Included by shaders that multiply by a linear layer's weights. They bind it as `w`, an array<u32>.
override HALF_WEIGHTS: bool = false;  // w holds pairs of float16
override INT8_WEIGHTS: bool = false;  // or four int8, whose scales are another's business

// The elements [index, index + 4) of w, those from `count` on as zeros.
fn load_w(index: u32, count: u32) -> vec4f {
  var v = vec4f();
  if (INT8_WEIGHTS) {
    // Rows start at a multiple of four and are padded to one with zeros.
    if (count > 0u) { v = vec4f(vec4i(vec4u(w[index / 4u]) << vec4u(24u, 16u, 8u, 0u)) >> vec4u(24u)); }
    return v;
  }
  if (HALF_WEIGHTS) {
    // Rows start at an even element and are padded to one.
    let i = index / 2u;
    if (count > 0u) { v = vec4f(unpack2x16float(w[i]), 0.0, 0.0); }
    if (count > 2u) { v = vec4f(v.xy, unpack2x16float(w[i + 1u])); }
    return v;
  }
  if (count > 0u) { v.x = bitcast<f32>(w[index]); }
  if (count > 1u) { v.y = bitcast<f32>(w[index + 1u]); }
  if (count > 2u) { v.z = bitcast<f32>(w[index + 2u]); }
  if (count > 3u) { v.w = bitcast<f32>(w[index + 3u]); }
  return v;
}

// The same of x, an array<f32>.
fn load_x(index: u32, count: u32) -> vec4f {
  var v = vec4f();
  if (count > 0u) { v.x = x[index]; }
  if (count > 1u) { v.y = x[index + 1u]; }
  if (count > 2u) { v.z = x[index + 2u]; }
  if (count > 3u) { v.w = x[index + 3u]; }
  return v;
}

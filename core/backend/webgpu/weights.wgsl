// Included by shaders that multiply by a linear layer's weights, bound as `w`, an array<u32>.
override HALF_WEIGHTS: bool = false;  // w contains pairs of float16

// The elements [index, index + 4) of w, with zeros from `count` on.
fn elements_of_w(index: u32, count: u32) -> vec4f {
  var v = vec4f();
  if (HALF_WEIGHTS) {
    // Rows start at an even element and are padded.
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

// The same for x, an array<u32> of float32.
fn elements_of_x(index: u32, count: u32) -> vec4f {
  var v = vec4f();
  if (count > 0u) { v.x = bitcast<f32>(x[index]); }
  if (count > 1u) { v.y = bitcast<f32>(x[index + 1u]); }
  if (count > 2u) { v.z = bitcast<f32>(x[index + 2u]); }
  if (count > 3u) { v.w = bitcast<f32>(x[index + 3u]); }
  return v;
}

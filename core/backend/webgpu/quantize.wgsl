// The rule of core/formats/quantize.h, by which a row of activations becomes integers: the same integers on every GPU.
// Included by shaders that bind the rows as `x` and define QUANTIZED_ROWS, the rows of a workgroup.
const SEEKERS = 8u;  // threads that find one row's largest value

var<workgroup> largest: array<atomic<u32>, QUANTIZED_ROWS>;
var<workgroup> scales: array<vec2f, QUANTIZED_ROWS>;  // of each row its scale, and what to multiply its values with

// The integer that orders like |x|, NaN above all.
fn magnitude(x: f32) -> u32 {
  return bitcast<u32>(x) & 0x7fffffffu;
}

// The bits of a / b to the nearest float32, halves to even, for positive a and b; infinity's where it is too large, 0 where it
// is below the normal ones. WGSL's own quotient may be two and a half units off, which would make other integers of a row.
fn quotient_bits(a: u32, b: u32) -> u32 {
  var exponent = i32(a >> 23u) - i32(b >> 23u) + 126;
  let divisor = (b & 0x7fffffu) | 0x800000u;
  var rest = (a & 0x7fffffu) | 0x800000u;
  if (rest < divisor) {
    rest <<= 1u;
    exponent -= 1;
  }
  var digits = 0u;  // 25 of them: one more than are kept
  for (var i = 0u; i < 25u; i++) {
    digits <<= 1u;
    if (rest >= divisor) {
      rest -= divisor;
      digits |= 1u;
    }
    rest <<= 1u;
  }
  if (exponent < 0) { return 0u; }
  if (exponent > 253) { return 0x7f800000u; }
  let up = select(0u, 1u, (digits & 1u) == 1u && (rest != 0u || (digits & 2u) == 2u));
  return (u32(exponent) << 23u) + (digits >> 1u) + up;  // The leading digit and a carry count in the exponent.
}

// A row's scale, and what to multiply its values with before rounding. `largest`: the largest magnitude in it.
fn row_scale(largest: u32, levels: u32) -> vec2f {
  // NaN, by arithmetic that no compiler foresees.
  if (largest >= 0x7f800000u) { return vec2f(bitcast<f32>(largest | 0x7fc00000u), 0.0); }
  let steps = bitcast<u32>(f32(levels));
  let inverse = quotient_bits(steps, largest);
  if (inverse >= 0x7f800000u) { return vec2f(); }  // Too small to have an inverse: zero.
  return vec2f(bitcast<f32>(quotient_bits(largest, steps)), bitcast<f32>(inverse));
}

// Fills `scales` for `rows` rows of x, the first at the element `first`. All threads of a workgroup call it; a barrier follows
// before they read.
fn find_scales(first: u32, stride: u32, rows: u32, depth: u32, levels: u32, thread: u32, threads: u32) {
  if (thread < QUANTIZED_ROWS) { atomicStore(&largest[thread], 0u); }
  workgroupBarrier();
  for (var m = thread / SEEKERS; m < rows; m += threads / SEEKERS) {
    var most = 0u;
    for (var k = thread % SEEKERS; k < depth; k += SEEKERS) { most = max(most, magnitude(x[first + m * stride + k])); }
    atomicMax(&largest[m], most);
  }
  workgroupBarrier();
  if (thread < QUANTIZED_ROWS) { scales[thread] = row_scale(atomicLoad(&largest[thread]), levels); }
}

// Values of the m-th row as integers.
fn quantize(values: vec4f, m: u32) -> vec4f {
  return round(values * scales[m].y);
}

// Four integers, none beyond a byte, in a word.
fn pack(q: vec4i) -> u32 {
  let bytes = bitcast<vec4u>(q) & vec4u(255u);
  return bytes.x | (bytes.y << 8u) | (bytes.z << 16u) | (bytes.w << 24u);
}

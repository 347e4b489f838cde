// Rows of activations as integers, by the rule of core/formats/quantize.h: the same integers on every GPU. A row falls into `groups`
// slices, each with a scale of its own, and a workgroup makes one slice. `out` has all scales first, then of each slice `words` words
// of four integers, zeros where the row has ended. Integers of 13 bits (`wide`) are 128 high + low: `words` words of the high
// ones, then as many of the low ones.
const THREADS = 64u;

struct Params {
  rows: u32,
  groups: u32,
  depth: u32,       // values of a slice
  x_first: u32,
  x_stride: u32,
  levels: u32,
  first_word: u32,
  words: u32,
  wide: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;

var<workgroup> largest: atomic<u32>;

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

// Four integers, none beyond a byte, in a word.
fn pack(q: vec4i) -> u32 {
  let bytes = bitcast<vec4u>(q) & vec4u(255u);
  return bytes.x | (bytes.y << 8u) | (bytes.z << 16u) | (bytes.w << 24u);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  for (var slice = workgroup.x; slice < params.rows * params.groups; slice += workgroups.x) {
    let first = params.x_first + slice / params.groups * params.x_stride + slice % params.groups * params.depth;
    if (thread == 0u) { atomicStore(&largest, 0u); }
    workgroupBarrier();
    var most = 0u;
    for (var k = thread; k < params.depth; k += THREADS) { most = max(most, magnitude(x[first + k])); }
    atomicMax(&largest, most);
    workgroupBarrier();
    let scale = row_scale(atomicLoad(&largest), params.levels);
    if (thread == 0u) { out[slice] = bitcast<u32>(scale.x); }
    for (var word = thread; word < params.words; word += THREADS) {
      var values = vec4f();
      for (var i = 0u; i < 4u; i++) {
        if (4u * word + i < params.depth) { values[i] = x[first + 4u * word + i]; }
      }
      let q = vec4i(round(values * scale.y));
      if (params.wide == 0u) {
        out[params.first_word + slice * params.words + word] = pack(q);
      } else {
        let low = ((q + 64) & vec4i(127)) - 64;
        let place = params.first_word + 2u * slice * params.words + word;
        out[place] = pack((q - low) >> vec4u(7u));
        out[place + params.words] = pack(low);
      }
    }
    workgroupBarrier();
  }
}

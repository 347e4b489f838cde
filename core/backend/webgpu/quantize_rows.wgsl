// Quantises rows of activations by the rule of core/formats/quantize.h, with the same integers on every GPU. A row has `groups` slices with
// separate scales; a workgroup computes one slice. `out` contains for each slice its scale and its offset, then `words` words of four bytes.
// A byte is the integer minus the offset: the slice's least integer becomes -128. An integer of 13 bits (`wide`) is 128 high + low, without an
// offset: `words` words have the high parts, and the next `words` the low parts.
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

// Bits of the largest value (or zero) as a signed integer, of the least one (or of a positive one) as an unsigned integer, with NaN beyond
// infinity.
var<workgroup> highest: atomic<i32>;
var<workgroup> lowest: atomic<u32>;

// The bits of a / b, correctly rounded to float32 (ties to even), for positive a and b; infinity on overflow, 0 below the normal range.
// WGSL's own quotient may be 2.5 ulp off, which would change integers.
fn quotient_bits(a: u32, b: u32) -> u32 {
  var exponent = i32(a >> 23u) - i32(b >> 23u) + 126;
  let divisor = (b & 0x7fffffu) | 0x800000u;
  var rest = (a & 0x7fffffu) | 0x800000u;
  if (rest < divisor) {
    rest <<= 1u;
    exponent -= 1;
  }
  var digits = 0u;  // 25 bits: one more than the result
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
  return (u32(exponent) << 23u) + (digits >> 1u) + up;  // The leading digit and a carry add to the exponent.
}

// A row's scale, and the factor for its values before rounding. `largest` is what `levels` integers reach to, in each direction.
fn row_scale(largest: u32, levels: u32) -> vec2f {
  // A NaN that compilers cannot fold.
  if (largest >= 0x7f800000u) { return vec2f(bitcast<f32>(largest | 0x7fc00000u), 0.0); }
  let steps = bitcast<u32>(f32(levels));
  let inverse = quotient_bits(steps, largest);
  if (inverse >= 0x7f800000u) { return vec2f(); }  // too small to have an inverse
  return vec2f(bitcast<f32>(quotient_bits(largest, steps)), bitcast<f32>(inverse));
}

struct Ends {
  largest: u32,     // the bits of the largest magnitude
  half_range: u32,  // the bits of half of the difference; those of `largest` if that is not finite
  least: f32,       // zero if none is negative
}

fn row_ends(high: u32, low: u32) -> Ends {
  let least = select(0u, low, (low >> 31u) != 0u);
  let magnitude = least & 0x7fffffffu;
  let largest = max(high, magnitude);
  if (largest >= 0x7f800000u) { return Ends(largest, largest, 0.0); }
  return Ends(largest, bitcast<u32>(0.5 * bitcast<f32>(high) + 0.5 * bitcast<f32>(magnitude)), bitcast<f32>(least));
}

// Packs four integers that fit a byte into a word.
fn pack(q: vec4i) -> u32 {
  let bytes = bitcast<vec4u>(q) & vec4u(255u);
  return bytes.x | (bytes.y << 8u) | (bytes.z << 16u) | (bytes.w << 24u);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  for (var slice = workgroup.x; slice < params.rows * params.groups; slice += workgroups.x) {
    let first = params.x_first + slice / params.groups * params.x_stride + slice % params.groups * params.depth;
    if (thread == 0u) {
      atomicStore(&highest, 0);
      atomicStore(&lowest, 0u);
    }
    workgroupBarrier();
    var high = 0;
    var low = 0u;
    for (var k = thread; k < params.depth; k += THREADS) {
      high = max(high, bitcast<i32>(x[first + k]));
      low = max(low, bitcast<u32>(x[first + k]));
    }
    atomicMax(&highest, high);
    atomicMax(&lowest, low);
    workgroupBarrier();
    let ends = row_ends(bitcast<u32>(atomicLoad(&highest)), atomicLoad(&lowest));
    let scale = row_scale(select(ends.half_range, ends.largest, params.wide != 0u), params.levels);
    let offset = select(i32(round(ends.least * scale.y)) + 128, 0, params.wide != 0u);
    if (thread == 0u) {
      out[2u * slice] = bitcast<u32>(scale.x);
      out[2u * slice + 1u] = bitcast<u32>(offset);
    }
    for (var word = thread; word < params.words; word += THREADS) {
      var values = vec4f();
      for (var i = 0u; i < 4u; i++) {
        if (4u * word + i < params.depth) { values[i] = x[first + 4u * word + i]; }
      }
      let q = vec4i(round(values * scale.y));
      if (params.wide == 0u) {
        out[params.first_word + slice * params.words + word] = pack(q - offset);
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

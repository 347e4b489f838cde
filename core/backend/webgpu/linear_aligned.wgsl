// linear.wgsl for a depth that is a multiple of 16, and rows and groups at multiples of four: reads vec4s without bounds checks.
#include "linear_params.wgsl"
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read> w: array<vec4u>;
#include "linear_tile.wgsl"
#include "linear_float.wgsl"
#include "float_rows.wgsl"

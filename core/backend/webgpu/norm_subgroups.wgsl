// norm_rows.wgsl with subgroups.
#include "subgroups.wgsl"
#include "norm_rows.wgsl"

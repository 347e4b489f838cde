// rms_norm_rows.wgsl with subgroups.
#include "subgroups.wgsl"
#include "rms_norm_rows.wgsl"

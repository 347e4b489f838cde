// rms_norm_rows.wgsl without subgroups.
#include "threads.wgsl"
#include "rms_norm_rows.wgsl"

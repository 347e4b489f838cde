// norm_rows.wgsl without subgroups.
#include "threads.wgsl"
#include "norm_rows.wgsl"

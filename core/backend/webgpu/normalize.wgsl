// normalize_rows.wgsl without subgroups.
#include "threads.wgsl"
#include "normalize_rows.wgsl"

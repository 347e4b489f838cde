// normalize_rows.wgsl with subgroups.
#include "subgroups.wgsl"
#include "normalize_rows.wgsl"

// What subgroups.wgsl does differently. Threads exchange values in workgroup memory.
#include "total.wgsl"

struct Group {
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) count: vec3u,
}

struct Thread {
  @builtin(local_invocation_index) index: u32,
}

fn number_of(group: Group, thread: Thread) -> u32 {
  return thread.index;
}

fn total_of_eight(group: Group, thread: u32, value: f32) -> f32 {
  return total_of_stored_eight(thread, value);
}

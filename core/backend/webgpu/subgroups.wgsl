// The alternative to threads.wgsl for GPUs with subgroups, with the same results: three levels of the tree of `total` are exchanges between
// eight threads of a subgroup. Threads are numbered by their place in a subgroup, so the results do not depend on how a GPU forms subgroups.
// If subgroups are smaller than eight or not full, `total` is that of threads.wgsl.
enable subgroups;
requires subgroup_id;
#include "total.wgsl"

// All members are uniform.
struct Group {
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) count: vec3u,
  @builtin(subgroup_size) subgroup_size: u32,
  @builtin(num_subgroups) subgroups: u32,
}

struct Thread {
  @builtin(local_invocation_index) index: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(subgroup_invocation_id) lane: u32,
}

fn has_eights(group: Group) -> bool {
  return group.subgroup_size >= 8u && group.subgroup_size * group.subgroups == THREADS;
}

fn number_of(group: Group, thread: Thread) -> u32 {
  return select(thread.index, thread.subgroup * group.subgroup_size + thread.lane, has_eights(group));
}

fn total_of_eight(group: Group, thread: u32, value: f32) -> f32 {
  if (!has_eights(group)) { return total_of_stored_eight(thread, value); }
  var sum = value;
  sum += subgroupShuffleXor(sum, 4u);
  sum += subgroupShuffleXor(sum, 2u);
  sum += subgroupShuffleXor(sum, 1u);
  return sum;
}

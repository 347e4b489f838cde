// Sums over the 64 threads of a workgroup. Additions form a tree that pairs thread i with i + 32, then i + 16, ..., i + 1.
const THREADS = 64u;

var<workgroup> partial: array<f32, 2u * THREADS + 8u>;

fn sum_of_eight(first: u32, step: u32) -> f32 {
  let low = vec4f(partial[first], partial[first + step], partial[first + 2u * step], partial[first + 3u * step]);
  let high = vec4f(partial[first + 4u * step], partial[first + 5u * step], partial[first + 6u * step], partial[first + 7u * step]);
  let four = low + high;
  let two = four.xy + four.zw;
  return two.x + two.y;
}

// Sums values of eight adjacent threads. Threads with equal numbers modulo 8 have equal values.
fn total_of_stored_eight(thread: u32, value: f32) -> f32 {
  if (thread < 8u) { partial[2u * THREADS + thread] = value; }
  workgroupBarrier();
  return sum_of_eight(2u * THREADS, 1u);
}

// `side` alternates between 0 and 1 from call to call, so that no thread overwrites what another one still reads.
fn total(group: Group, thread: u32, value: f32, side: u32) -> f32 {
  partial[side * THREADS + thread] = value;
  workgroupBarrier();
  return total_of_eight(group, thread, sum_of_eight(side * THREADS + thread % 8u, 8u));
}

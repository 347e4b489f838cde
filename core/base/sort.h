// Sorts with little code: each std::sort and std::stable_sort adds 3 to 12 kB of WebAssembly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/base/memory.h"

namespace peruse {

// Not stable, but deterministic.
template <typename Iterator, typename Less>
void HeapSort(Iterator begin, Iterator end, const Less& less) {
  std::make_heap(begin, end, less);
  std::sort_heap(begin, end, less);
}

// Merges ascending runs: stable, and almost as fast as std::sort. Returns false if memory runs out.
template <typename T, typename Less>
[[nodiscard]] bool MergeSort(std::vector<T>* items, const Less& less) {
  std::vector<T> merged;
  const size_t size = items->size();
  if (!TryResize(&merged, size)) return false;
  for (size_t run = 1; run < size; run *= 2) {
    for (size_t begin = 0; begin < size; begin += 2 * run) {
      T* const first = items->data() + begin;
      T* const middle = items->data() + std::min(begin + run, size);
      std::merge(first, middle, middle, items->data() + std::min(begin + 2 * run, size), merged.data() + begin, less);
    }
    items->swap(merged);
  }
  return true;
}

}  // namespace peruse

#pragma once

#include <algorithm>

namespace peruse {

// Sorts with little code: each std::sort adds 6 to 12 kB of WebAssembly. Not stable, but deterministic.
template <typename Iterator, typename Less>
void HeapSort(Iterator begin, Iterator end, const Less& less) {
  std::make_heap(begin, end, less);
  std::sort_heap(begin, end, less);
}

}  // namespace peruse

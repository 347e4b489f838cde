// Sorts with little code: each instance of std::sort adds six to twelve kilobytes of WebAssembly, too much for one-off sorts.
#pragma once

#include <algorithm>

namespace peruse {

// Not stable, but deterministic.
template <typename Iterator, typename Less>
void HeapSort(Iterator begin, Iterator end, const Less& less) {
  std::make_heap(begin, end, less);
  std::sort_heap(begin, end, less);
}

}  // namespace peruse

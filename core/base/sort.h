// Sorting in little code. std::sort makes six to twelve kilobytes of WebAssembly for each type, which is too much for what is
// sorted once.
#pragma once

#include <algorithm>

namespace peruse {

// Equal items come in any order, but always in the same one.
template <typename Iterator, typename Less>
void HeapSort(Iterator begin, Iterator end, const Less& less) {
  std::make_heap(begin, end, less);
  std::sort_heap(begin, end, less);
}

}  // namespace peruse

#pragma once

#include <cstdint>

namespace peruse::train {

constexpr int32_t ThreadsHere([[maybe_unused]] int32_t wanted) {
#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
  return 1;
#else
  return wanted;
#endif
}

}  // namespace peruse::train

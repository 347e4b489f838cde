#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>
#include <vector>

#if defined(__EMSCRIPTEN__)
#include <emscripten.h>
#endif

namespace peruse::bench {

inline double WallTime() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Processor time of this process in seconds. In wasm this needs Node.
#if defined(__EMSCRIPTEN__)
EM_JS(double, PeruseCpuTime, (), {
  const usage = process.cpuUsage();
  return (usage.user + usage.system) * 1e-6;
});
inline double CpuTime() { return PeruseCpuTime(); }
#else
inline double CpuTime() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
#endif

inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace peruse::bench

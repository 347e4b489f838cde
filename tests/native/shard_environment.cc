// Passes GoogleTest's sharding variables to the tests, because Emscripten programs do not inherit the environment.
#ifdef __EMSCRIPTEN__
#include <emscripten.h>

#include <cstdlib>
#include <string>

namespace {

EM_JS(int, NumberOfEnvironment, (const char* name), { return Number(process.env[UTF8ToString(name)] || -1); });

void TakeFromNode(const char* name) {
  const int value = NumberOfEnvironment(name);
  if (value >= 0) setenv(name, std::to_string(value).c_str(), 1);
}

const bool kTaken = [] {
  TakeFromNode("GTEST_TOTAL_SHARDS");
  TakeFromNode("GTEST_SHARD_INDEX");
  return true;
}();

}  // namespace
#endif

// GoogleTest's main, which passes its result to a function of the runner, because Asyncify loses main's return value after a wait.
#include <emscripten.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

// clang-format off
EM_JS(void, Finished, (int code), { Module.finished(code); });
// clang-format on

// --shard=<index>/<count> runs every count-th test. GoogleTest reads this from the environment, which WebAssembly does not have.
static void ReadShard(const char* option) {
  int index = 0;
  int count = 0;
  if (std::sscanf(option, "--shard=%d/%d", &index, &count) != 2) return;
  setenv("GTEST_SHARD_INDEX", std::to_string(index).c_str(), 1);
  setenv("GTEST_TOTAL_SHARDS", std::to_string(count).c_str(), 1);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) ReadShard(argv[i]);
  ::testing::InitGoogleTest(&argc, argv);
  const int code = RUN_ALL_TESTS();
  std::fflush(nullptr);
  Finished(code);
  return code;
}

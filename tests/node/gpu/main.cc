// GoogleTest's main, which passes its result to a function of the runner, because Asyncify loses main's return value after a wait.
#include <emscripten.h>
#include <gtest/gtest.h>

#include <cstdio>

// clang-format off
EM_JS(void, Finished, (int code), { Module.finished(code); });
// clang-format on

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const int code = RUN_ALL_TESTS();
  std::fflush(nullptr);
  Finished(code);
  return code;
}

// GoogleTest's main, but for its result: Asyncify loses what main returns after a wait, so a function of the runner's gets it.
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

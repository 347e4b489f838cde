// GoogleTest's main, but for its result: Asyncify loses what main returns after a wait, so exit says it.
#include <gtest/gtest.h>

#include <cstdlib>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  std::exit(RUN_ALL_TESTS());
}

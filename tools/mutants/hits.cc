// Added by tools/mutants/core.mjs to its copy of the tests: after each test, writes its file, its name, its processor time and the mutants that it reached.
#include <gtest/gtest.h>

#include <ctime>

#include "tools/mutants/mutant.h"

namespace {

class HitsOfTests : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override {
    for (std::atomic<bool>& one : peruse_mutants::seen) one = false;
    start_ = std::clock();
  }

  void OnTestEnd(const testing::TestInfo& test) override {
    FILE* hits = peruse_mutants::Hits();
    if (hits == nullptr) return;
    std::fprintf(hits, "%s %s.%s %d %.4f", test.file(), test.test_suite_name(), test.name(), test.result()->Passed(),
                 static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC);
    for (int i = 0; i < peruse_mutants::kMost; ++i)
      if (peruse_mutants::seen[i]) std::fprintf(hits, " %d", i);
    std::fprintf(hits, "\n");
    std::fflush(hits);
  }

  std::clock_t start_ = 0;
};

const bool kListens = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new HitsOfTests);
  return true;
}();

}  // namespace

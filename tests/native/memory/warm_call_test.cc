// The second run of a batch, from token ids to logits, does not allocate. Excludes a task's JSON and the tokenizer.
#include <gtest/gtest.h>

#include "core/backend/cpu/cpu_backend.h"
#include "tests/native/memory/allocation_counter.h"
#include "tests/native/models/fixtures.h"

namespace peruse::testing {
namespace {

constexpr std::string_view kRefused = "deberta-v1-talking-heads";  // as in golden_test.cc

#if !defined(__EMSCRIPTEN__) || defined(__EMSCRIPTEN_PTHREADS__)
constexpr int32_t kMostThreads = 2;
#else
constexpr int32_t kMostThreads = 1;
#endif

// A helper thread allocates at its start, which the system may delay for this many calls.
constexpr int kCallsUntilHelpersRun = 100;

Status Call(Runner& model, std::span<const ModelInput> inputs) {
  PERUSE_RETURN_IF_ERROR(model.Begin(inputs));
  return model.Finish();
}

class WarmCallTest : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(WarmCallTest, AllocatesNothing) {
  const GoldenCase& golden = GetParam();
  const TensorFile expected = golden.Expected();
  const std::vector<GoldenText> texts = GoldenTexts(golden, expected);
  std::vector<ModelInput> inputs;
  for (const GoldenText& text : texts) inputs.push_back(text.input());
  for (const Precision precision : {Precision::kF32, Precision::kF16, Precision::kQ8}) {
    for (int32_t threads = 1; threads <= kMostThreads; ++threads) {
      const std::unique_ptr<Backend> backend = CreateCpuBackend(threads).value();
      ModelOptions options = golden.Options();
      options.precision = precision;
      const std::unique_ptr<Runner> model = LoadModel(golden.Config(), golden.Weights(), options, *backend).value();
      ASSERT_TRUE(Call(*model, inputs).ok());
      int64_t made = 1;
      for (int call = 0; call < (threads > 1 ? kCallsUntilHelpersRun : 1) && made > 0; ++call) {
        const int64_t before = Allocations();
        const Status status = Call(*model, inputs);
        made = Allocations() - before;
        EXPECT_TRUE(status.ok());
      }
      EXPECT_EQ(made, 0) << "precision " << static_cast<int>(precision) << ", threads " << threads;
    }
  }
}

std::vector<GoldenCase> Cases() {
  std::vector<GoldenCase> cases = GoldenCases();
  std::erase_if(cases, [](const GoldenCase& golden) { return golden.name == kRefused; });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Golden, WarmCallTest, ::testing::ValuesIn(Cases()), [](const auto& info) {
  std::string name = info.param.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST(AllocationCounterTest, CountsEveryForm) {
  constexpr std::align_val_t kAlignment{64};
  const int64_t before = Allocations();
  ::operator delete(::operator new(8));
  ::operator delete(::operator new(8, std::nothrow));
  ::operator delete[](::operator new[](8));
  ::operator delete[](::operator new[](8, std::nothrow));
  ::operator delete(::operator new(64, kAlignment), kAlignment);
  ::operator delete(::operator new(64, kAlignment, std::nothrow), kAlignment);
  EXPECT_EQ(Allocations() - before, 6);
}

}  // namespace
}  // namespace peruse::testing

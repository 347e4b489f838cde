#include <gtest/gtest.h>

#include <utility>

#include "core/backend/reference/reference_backend.h"
#include "core/backend/xnnpack/xnnpack_backend.h"
#include "tests/native/models/fixtures.h"

namespace peruse::testing {
namespace {

constexpr const char* kSharedKeys =
    "deberta-v2-buckets64";                              // share_att_key: the tables use the layers' own projections
constexpr const char* kOwnKeys = "deberta-v2-own-keys";  // the tables use projections that are not needed otherwise

class FoldingRuns : public RunObserver {
 public:
  void Begin(const Program& program, const RunInputs& inputs) override {
    if (inputs.batch.sequences() == 0 && !program.ops.empty()) ++count_;
  }
  void Ran(const Op&) override {}
  int Take() { return std::exchange(count_, 0); }

 private:
  int count_ = 0;
};

std::shared_ptr<const LoadedModel> Load(const char* name, Backend& backend, Head head = Head::kQuestionAnswering,
                                        const LoadedModel* beside = nullptr) {
  ModelOptions options = {.head = head};
  options.beside = beside;
  const std::string folder = std::string("tiny/") + name;
  auto model =
      LoadWeights(ReadFixture(folder + "/config.json"), ReadFixture(folder + "/model.safetensors"), options, backend);
  EXPECT_TRUE(model.ok()) << model.status().message();
  return std::move(model).value();
}

std::vector<float> Answer(Runner& model, size_t tokens) {
  std::vector<int32_t> ids(tokens);
  for (size_t i = 0; i < tokens; ++i) ids[i] = static_cast<int32_t>((7 * i + tokens) % 30);
  const ModelInput input = {ids, {}};
  EXPECT_TRUE(model.Begin({&input, 1}).ok());
  EXPECT_TRUE(model.Finish().ok());
  return ValuesOf(model, model.head() == Head::kNone ? kLastHiddenState : kLogits);
}

TEST(Folding, ComputesTheTablesOnceAtLoad) {
  for (const auto& [name, head] : {std::pair{kSharedKeys, Head::kQuestionAnswering}, {kOwnKeys, Head::kNone}}) {
    for (const auto& create : {+[] { return CreateXnnpackBackend(1).value(); },
                               +[]() -> std::unique_ptr<Backend> { return CreateReferenceBackend(); }}) {
      const std::unique_ptr<Backend> backend = create();
      FoldingRuns runs;
      backend->set_observer(&runs);
      const std::unique_ptr<Runner> model = CreateRunner(Load(name, *backend, head));
      EXPECT_EQ(runs.Take(), 1) << name;
      Answer(*model, 3);
      Answer(*model, 7);
      EXPECT_EQ(runs.Take(), 0) << name;
    }
  }
}

TEST(Folding, SharesTheTablesWithAModelOfTheSameEncoder) {
  const std::unique_ptr<Backend> alone_backend = CreateXnnpackBackend(1).value();
  const std::unique_ptr<Runner> alone = CreateRunner(Load(kSharedKeys, *alone_backend, Head::kNone));

  const std::unique_ptr<Backend> backend = CreateXnnpackBackend(1).value();
  FoldingRuns runs;
  backend->set_observer(&runs);
  std::shared_ptr<const LoadedModel> first = Load(kSharedKeys, *backend);
  EXPECT_EQ(runs.Take(), 1);
  const std::unique_ptr<Runner> second = CreateRunner(Load(kSharedKeys, *backend, Head::kNone, first.get()));
  EXPECT_EQ(runs.Take(), 0);
  EXPECT_EQ(Answer(*second, 18), Answer(*alone, 18));
  first.reset();
  EXPECT_EQ(Answer(*second, 130), Answer(*alone, 130));
  EXPECT_EQ(runs.Take(), 0);
}

}  // namespace
}  // namespace peruse::testing

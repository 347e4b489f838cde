#include "core/train/recipes/objective.h"

#include <gtest/gtest.h>

#include <cmath>

namespace peruse::train {
namespace {

struct Case {
  Goal goal;
  std::vector<Example> examples;
  int64_t columns;
  std::vector<float> logits;  // [rows, columns]
};

class Goals {
 public:
  explicit Goals(Case c) : case_(std::move(c)), objective_(Objective::Create(case_.goal, {})) {
    for (const Example& example : case_.examples) {
      examples_.push_back(&example);
      batch_.Append(static_cast<int32_t>(example.ids.size()));
    }
    const auto rows = static_cast<int64_t>(case_.logits.size()) / case_.columns;
    logits_ = {case_.logits.data(), rows, case_.columns, case_.columns};
    gradient_.resize(case_.logits.size());
  }

  double Mass() { return objective_->Mass(examples_, case_.columns); }
  double Loss() {
    return objective_->Loss(examples_, batch_, logits_, Mass(),
                            {gradient_.data(), logits_.rows, logits_.cols, logits_.cols});
  }
  Metrics Validate() {
    objective_->Reset(case_.columns);
    objective_->Observe(examples_, batch_, logits_);
    return objective_->Finish(Mass());
  }

 private:
  Case case_;
  std::unique_ptr<Objective> objective_;
  std::vector<const Example*> examples_;
  RaggedBatch batch_;
  Block logits_;
  std::vector<float> gradient_;
};

const double kLog2 = std::log(2.0);
// Softmax 0.75, 0.25.
const float kLog3 = std::log(3.0f);

TEST(Objective, SoftLabels) {
  Goals run({Goal::kSoftLabels,
             {{.ids = {1}, .targets = {0.5f, 0.5f}}, {.ids = {1}, .targets = {0.25f, 0.75f}}},
             2,
             {0, 0, kLog3, 0}});
  EXPECT_EQ(run.Mass(), 2);
  EXPECT_NEAR(run.Loss(), (kLog2 - 0.25 * std::log(0.75) - 0.75 * std::log(0.25)) / 2, 1e-6);
  const Metrics metrics = run.Validate();
  EXPECT_EQ(metrics.accuracy, 0.5);  // the second text gets the first label
  EXPECT_EQ(metrics.examples, 2);
  EXPECT_EQ(metrics.confusion, (std::vector<int64_t>{1, 0, 1, 0}));
}

TEST(Objective, MultiLabel) {
  Goals run({Goal::kMultiLabel,
             {{.ids = {1}, .targets = {1, 0}}, {.ids = {1}, .targets = {1, 1}}},
             2,
             {kLog3, kLog3, 0, kLog3}});
  EXPECT_EQ(run.Mass(), 4);
  // -log 0.75, -log 0.25, -log 0.5, -log 0.75
  EXPECT_NEAR(run.Loss(), -(2 * std::log(0.75) + std::log(0.25) + std::log(0.5)) / 4, 1e-6);
  // The first label has one hit and one miss; the second one hit and one false alarm.
  EXPECT_NEAR(run.Validate().f1, 2.0 / 3, 1e-12);
}

TEST(Objective, Regression) {
  Goals run({Goal::kRegression, {{.ids = {1}, .targets = {2}}, {.ids = {1}, .targets = {-1}}}, 1, {1.5f, 1}});
  EXPECT_EQ(run.Mass(), 2);
  EXPECT_NEAR(run.Loss(), (0.25 + 4) / 2, 1e-6);
  EXPECT_NEAR(run.Validate().error, (0.25 + 4) / 2, 1e-6);
}

TEST(Objective, Tokens) {
  Goals run({Goal::kTokens,
             {{.ids = {1, 2, 3}, .labels = {kIgnored, 0, 1}}, {.ids = {1, 2}, .labels = {kIgnored, 1}}},
             2,
             {9, 9, kLog3, 0, kLog3, 0, 9, 9, 0, 0}});
  EXPECT_EQ(run.Mass(), 3);
  EXPECT_NEAR(run.Loss(), -(std::log(0.75) + std::log(0.25) + std::log(0.5)) / 3, 1e-6);
  const Metrics metrics = run.Validate();
  EXPECT_NEAR(metrics.accuracy, 1.0 / 3, 1e-12);
  EXPECT_EQ(metrics.confusion, (std::vector<int64_t>{1, 0, 2, 0}));
}

TEST(Objective, Span) {
  // Start and end of each token. Both are right for the first text, only the start for the second.
  Goals run({Goal::kSpan,
             {{.ids = {1, 2}, .labels = {0, 1}}, {.ids = {1, 2}, .labels = {1, 1}}},
             2,
             {kLog3, 0, 0, kLog3, 0, kLog3, kLog3, 0}});
  EXPECT_EQ(run.Mass(), 2);
  EXPECT_NEAR(run.Loss(), -(3 * std::log(0.75) + std::log(0.25)) / 4, 1e-6);
  EXPECT_EQ(run.Validate().accuracy, 0.5);
}

TEST(Objective, MaskedWords) {
  Goals run({Goal::kMaskedWords, {{.ids = {1, 2, 3}, .labels = {0, 1}, .chosen = {0, 2}}}, 2, {kLog3, 0, kLog3, 0}});
  EXPECT_EQ(run.Mass(), 2);
  EXPECT_NEAR(run.Loss(), -(std::log(0.75) + std::log(0.25)) / 2, 1e-6);
  EXPECT_EQ(run.Validate().accuracy, 0.5);
}

TEST(Objective, ReplacedTokens) {
  Goals run({Goal::kReplaced,
             {{.ids = {1, 2, 3}, .targets = {0, 1, 1}}, {.ids = {1}, .targets = {0}}},
             1,
             {-kLog3, kLog3, -kLog3, kLog3}});
  EXPECT_EQ(run.Mass(), 4);
  EXPECT_NEAR(run.Loss(), -(2 * std::log(0.75) + 2 * std::log(0.25)) / 4, 1e-6);
  const Metrics metrics = run.Validate();
  EXPECT_EQ(metrics.accuracy, 0.5);
  EXPECT_NEAR(metrics.f1, 0.5, 1e-12);  // one hit, one miss and one false alarm
}

TEST(Objective, RefusesWhatALossHasNot) {
  const std::vector<float> weights = {1, 2};
  const std::vector<float> none = {1, 0};
  const auto check = [](Goal goal, CrossEntropyOptions options) { return Objective::Create(goal, options)->Check(); };
  EXPECT_TRUE(check(Goal::kSingleLabel, {.class_weights = weights, .smoothing = 0.1f}).ok());
  EXPECT_TRUE(check(Goal::kTokens, {.smoothing = 0.1f}).ok());
  EXPECT_EQ(check(Goal::kTokens, {.class_weights = weights}).message(),
            "option class_weights is for texts with one label each");
  EXPECT_EQ(check(Goal::kSingleLabel, {.class_weights = none}).message(),
            "option class_weights must have numbers above 0");
  EXPECT_EQ(check(Goal::kMultiLabel, {.smoothing = 0.1f}).message(),
            "option label_smoothing is for texts with one label each, and for entities");
}

}  // namespace
}  // namespace peruse::train

// Masked language models: losses, gradients and AdamW steps, compared with PyTorch for tiny models of every family
// (tests/reference/make_pretraining_goldens.py), and the drawn masks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/ops/reference.h"
#include "core/train/recipes/teacher.h"
#include "tests/native/train/golden_summary.h"

namespace peruse::train {
namespace {

using peruse::testing::GoldenCase;
using peruse::testing::GoldenText;
using testing::ExpectSummary;
using testing::LargestGradient;
using testing::LoadTrainee;
using testing::PretrainingGoldens;

// Masks tokens by the formula of the goldens. `row` is the number of the text's first row in the batch.
Example MaskedByFormula(const GoldenText& text, int32_t row, int32_t vocabulary) {
  constexpr int32_t kMask = 4;
  Example example = {.ids = text.ids, .types = text.type_ids};
  for (int32_t place = 0; place < static_cast<int32_t>(text.ids.size()); ++place, ++row) {
    if (row % 3 != 1) continue;
    int32_t& id = example.ids[static_cast<size_t>(place)];
    example.chosen.push_back(place);
    example.labels.push_back(id);
    const int32_t fate = row / 3 % 5;
    if (fate == 0) id = (row * 11 + 7) % vocabulary;
    if (fate > 1) id = kMask;
  }
  return example;
}

class MaskedWords : public ::testing::TestWithParam<GoldenCase> {};

class Lesson {
 public:
  explicit Lesson(const GoldenCase& golden) : trainee_(LoadTrainee(golden, Head::kMaskedLm)) {
    for (WeightTensor& weight_tensor : weight_tensors().tensors()) {
      PERUSE_CHECK(!weight_tensor.fresh);
      weight_tensor.trained = trainee_->IsTrainable(weight_tensor);
    }
    PERUSE_CHECK(trainee_->BeginTraining().ok());
    program_ = trainee_->ProgramFor(kLogits).value();
    step_ = std::make_unique<Step>(program_, packed().parameters());
    for (const GoldenText& text : GoldenTexts(golden, golden.Expected())) {
      examples_.push_back(MaskedByFormula(text, batch_.rows(), trainee_->config().vocab_size));
      for (const int32_t place : examples_.back().chosen) chosen_.push_back(batch_.rows() + place);
      batch_.Append(static_cast<int32_t>(text.ids.size()));
    }
    for (const Example& example : examples_) {
      inputs_.push_back({example.ids, example.types});
      part_.push_back(&example);
    }
  }

  WeightTensors& weight_tensors() { return trainee_->weight_tensors(); }
  PackedCopies& packed() { return *trainee_->packed(); }

  double Run() {
    const std::unique_ptr<Objective> objective = Objective::Create(Goal::kMaskedWords, {});
    packed().ZeroGradients();
    packed().Pack();
    PERUSE_CHECK(step_->Begin({inputs_, batch_, chosen_}, {}).ok());
    step_->Forward();
    const Block logits = step_->output();
    const double loss =
        objective->Loss(part_, batch_, logits, objective->Mass(part_, logits.cols), step_->output_gradient());
    step_->Backward();
    packed().Gather();
    return loss;
  }

 private:
  std::unique_ptr<Trainee> trainee_;
  Program program_;
  std::unique_ptr<Step> step_;
  std::vector<Example> examples_;
  std::vector<const Example*> part_;
  std::vector<ModelInput> inputs_;
  RaggedBatch batch_;
  std::vector<int32_t> chosen_;
};

TEST_P(MaskedWords, GradientsOfEveryParameterAgreeWithPyTorch) {
  const std::string name = GetParam().name;
  Lesson lesson(GetParam());
  const double loss = lesson.Run();
  EXPECT_NEAR(loss, PretrainingGoldens().Floats(name + "/loss")[0], 1e-5 * loss);
  const double floor = ops::kEpsilon * ops::kDot * LargestGradient(PretrainingGoldens(), name + "/gradient/");
  std::set<std::string> found;
  for (const WeightTensor& weight_tensor : lesson.weight_tensors().tensors()) {
    const std::string key = name + "/gradient/" + weight_tensor.file_name;
    if (!weight_tensor.trained) continue;
    ASSERT_TRUE(PretrainingGoldens().Has(key + "/samples")) << key;
    found.insert(key);
    ExpectSummary(PretrainingGoldens(), key, weight_tensor.gradient, weight_tensor.size, 1e-5, floor);
  }
  for (const auto& [key, entry] : PretrainingGoldens().entries) {
    if (!key.starts_with(name + "/gradient/") || !key.ends_with("/samples")) continue;
    EXPECT_TRUE(found.contains(key.substr(0, key.size() - 8))) << key << " is a gradient that we have not";
  }
}

TEST_P(MaskedWords, FiveStepsOfAdamWAgreeWithPyTorch) {
  const std::string name = GetParam().name;
  Lesson lesson(GetParam());
  AdamW optimiser(lesson.weight_tensors(), lesson.packed().workers(),
                  {.learning_rate = 1e-3f, .weight_decay = 0.01f, .warmup = 0.2f, .steps = 5});
  ASSERT_TRUE(optimiser.Allocate().ok());
  for (const float want : PretrainingGoldens().Floats(name + "/losses")) {
    const double loss = lesson.Run();
    EXPECT_NEAR(loss, want, 1e-4 * want);
    optimiser.Update();
  }
  const double largest = LargestGradient(PretrainingGoldens(), name + "/gradient/");
  for (const WeightTensor& weight_tensor : lesson.weight_tensors().tensors()) {
    // Adam takes full steps even if a gradient is only rounding; such tensors differ.
    if (!weight_tensor.trained ||
        PretrainingGoldens().Floats(name + "/gradient/" + weight_tensor.file_name + "/sums")[0] < 1e-6 * largest)
      continue;
    ExpectSummary(PretrainingGoldens(), name + "/weight/" + weight_tensor.file_name, weight_tensor.values,
                  weight_tensor.size, 1e-4, 0);
  }
}

std::vector<GoldenCase> MaskedLmCases() {
  std::vector<GoldenCase> cases;
  for (const GoldenCase& golden : peruse::testing::GoldenCases()) {
    if (golden.folder == "tiny" && PretrainingGoldens().Has(golden.name + "/loss")) cases.push_back(golden);
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Tiny, MaskedWords, ::testing::ValuesIn(MaskedLmCases()), [](const auto& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

Example TextOf(int32_t length, int32_t special) {
  Example text;
  for (int32_t t = 0; t < length; ++t) {
    text.ids.push_back(10 + t % 30);
    text.types.push_back(0);
    if (t >= special && t < length - special) text.chosen.push_back(t);
  }
  return text;
}

TEST(Masking, TakesTheShareThatItShould) {
  const MaskRecipe recipe = {.mask_id = 4, .vocabulary = 48};
  for (const auto& [length, count] : {std::pair(102, 15), std::pair(3, 1), std::pair(12, 2), std::pair(4, 1)}) {
    const Example text = TextOf(length, 1);
    const Example masked = Masked(text, recipe, 42, 0, 0);
    EXPECT_EQ(masked.chosen.size(), static_cast<size_t>(count)) << length;
    EXPECT_TRUE(std::is_sorted(masked.chosen.begin(), masked.chosen.end()));
    EXPECT_EQ(std::adjacent_find(masked.chosen.begin(), masked.chosen.end()), masked.chosen.end());
    size_t next = 0;
    for (int32_t t = 0; t < length; ++t) {
      const auto at = static_cast<size_t>(t);
      if (next < masked.chosen.size() && masked.chosen[next] == t) {
        EXPECT_EQ(masked.labels[next++], text.ids[at]);
        EXPECT_TRUE(t > 0 && t < length - 1) << "a special token was masked";
      } else {
        EXPECT_EQ(masked.ids[at], text.ids[at]);
      }
    }
  }
}

// 80 % become the mask, 10 % a random token, 10 % stay: within five deviations over 30,000 tokens.
TEST(Masking, FollowsTheRecipe) {
  const MaskRecipe recipe = {.mask_id = 4, .vocabulary = 48};
  const Example text = TextOf(202, 1);
  int64_t masks = 0, same = 0, others = 0;
  std::vector<int64_t> places(202);
  for (uint32_t number = 0; number < 1000; ++number) {
    const Example masked = Masked(text, recipe, 7, number / 10, number);
    for (size_t i = 0; i < masked.chosen.size(); ++i) {
      const int32_t id = masked.ids[static_cast<size_t>(masked.chosen[i])];
      ++places[static_cast<size_t>(masked.chosen[i])];
      ++(id == 4 ? masks : id == masked.labels[i] ? same : others);
    }
  }
  EXPECT_EQ(masks + same + others, 30000);
  // One in 48 random tokens is the mask, and one the original token.
  EXPECT_NEAR(masks, 24000 + 3000 / 48.0, 5 * std::sqrt(30000 * 0.8 * 0.2));
  EXPECT_NEAR(same, 3000 + 3000 / 48.0, 5 * std::sqrt(30000 * 0.1 * 0.9));
  for (size_t t = 1; t < 201; ++t) EXPECT_NEAR(places[t], 150, 5 * std::sqrt(150.0));
}

TEST(Masking, IsDrawnAnewAndRepeatsItself) {
  const MaskRecipe recipe = {.mask_id = 4, .vocabulary = 48};
  const Example text = TextOf(60, 1);
  const Example first = Masked(text, recipe, 42, 3, 5);
  EXPECT_EQ(first.ids, Masked(text, recipe, 42, 3, 5).ids);
  EXPECT_NE(first.ids, Masked(text, recipe, 42, 4, 5).ids);
  EXPECT_NE(first.ids, Masked(text, recipe, 42, 3, 6).ids);
  EXPECT_NE(first.ids, Masked(text, recipe, 43, 3, 5).ids);
}

// In these texts ids count up, so that neighbours determine a masked token.
Example CountingText(int32_t number) {
  Example text;
  const int32_t length = 8 + number % 5;
  for (int32_t t = 0; t < length; ++t) {
    text.ids.push_back(8 + (number * 7 + t) % 24);
    text.types.push_back(0);
    text.chosen.push_back(t);
  }
  return text;
}

Teacher::Report Pretrain(Trainee& trainee, TeachOptions options, int32_t texts) {
  options.masking.mask_id = 4;
  options.masking.vocabulary = 48;
  Teacher teacher(trainee, Goal::kMaskedWords, options);
  for (int32_t i = 0; i < texts; ++i)
    teacher.Add(i % 4 == 3 ? Teacher::kValidation : Teacher::kTraining, CountingText(i));
  auto plan = teacher.Begin();
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  for (bool more = plan.ok(); more;) {
    const auto progress = teacher.Advance();
    EXPECT_TRUE(progress.ok()) << progress.status().message();
    more = progress.ok() && progress->more;
  }
  return teacher.report();
}

const GoldenCase& CaseOf(const std::string& name) {
  static const std::vector<GoldenCase> cases = peruse::testing::GoldenCases();
  return *std::find_if(cases.begin(), cases.end(), [&](const GoldenCase& golden) { return golden.name == name; });
}

TEST(PretrainMaskedWords, LearnsWhatIsEasy) {
  for (const char* name : {"convbert-masked-lm", "deberta-v2-masked-lm"}) {  // models with relative positions
    SCOPED_TRACE(name);
    const auto trainee = LoadTrainee(CaseOf(name), Head::kMaskedLm);
    TeachOptions options;
    options.epochs = 40;
    options.adamw.learning_rate = 5e-3f;
    options.dropout = options.attention_dropout = 0;
    const Teacher::Report report = Pretrain(*trainee, options, 160);
    EXPECT_LT(report.epochs.back().validation->loss, 0.5 * report.epochs.front().validation->loss);
    EXPECT_GT(report.epochs.back().validation->accuracy, 0.6);
  }
}

TEST(PretrainMaskedWords, RepeatsItselfAndSplitsBatchesFreely) {
  TeachOptions options;
  options.dropout = options.attention_dropout = 0;
  const auto losses = [&] {
    return Pretrain(*LoadTrainee(CaseOf("bert-masked-lm"), Head::kMaskedLm), options, 40).losses;
  };
  const std::vector<double> first = losses();
  EXPECT_EQ(first, losses());
  options.batch_tokens = 30;
  const std::vector<double> parts = losses();
  for (size_t i = 0; i < first.size(); ++i) EXPECT_NEAR(parts[i], first[i], 1e-5 * first[i]);
}

TEST(PretrainMaskedWords, TrainsEverythingOrNothing) {
  const auto trainee = LoadTrainee(CaseOf("bert-masked-lm"), Head::kMaskedLm);
  TeachOptions options;
  options.method = Method::kHead;
  Teacher teacher(*trainee, Goal::kMaskedWords, options);
  teacher.Add(Teacher::kTraining, CountingText(1));
  EXPECT_EQ(teacher.Begin().status().code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace peruse::train

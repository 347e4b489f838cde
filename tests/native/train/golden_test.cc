// Compares losses, gradients and 30 steps of AdamW with PyTorch, for tiny models of every family and head
// (tests/reference/make_training_goldens.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/ops/reference.h"
#include "core/train/ops/loss.h"
#include "core/train/recipes/adamw.h"
#include "core/train/recipes/trainee.h"
#include "tests/native/train/golden_summary.h"

namespace peruse::train {
namespace {

using peruse::testing::GoldenCase;
using peruse::testing::GoldenText;
using peruse::testing::TensorFile;

const TensorFile& Goldens() {
  static const TensorFile file = TensorFile::Read("training/goldens.safetensors");
  return file;
}

std::vector<GoldenCase> CasesWith(const std::string& suffix) {
  std::vector<GoldenCase> cases;
  for (const GoldenCase& golden : peruse::testing::GoldenCases()) {
    if (Goldens().Has(golden.name + suffix)) cases.push_back(golden);
  }
  return cases;
}

struct Shape {
  int64_t cols, rows;
  auto operator<=>(const Shape&) const = default;
};

class Lesson {
 public:
  explicit Lesson(const GoldenCase& golden) : texts_(GoldenTexts(golden, golden.Expected())) {
    head_ = golden.Options().head;
    trainee_ = testing::LoadTrainee(golden, head_);
    for (WeightTensor& weight_tensor : weight_tensors().tensors()) {
      PERUSE_CHECK(!weight_tensor.fresh);
      weight_tensor.trained = trainee_->IsTrainable(weight_tensor);
    }
    PERUSE_CHECK(trainee_->BeginTraining().ok());
    program_ = trainee_->ProgramFor(kLogits).value();
    step_ = std::make_unique<Step>(program_, packed().parameters());
    for (const GoldenText& text : texts_) {
      inputs_.push_back(text.input());
      batch_.Append(static_cast<int32_t>(text.ids.size()));
      ids_.insert(ids_.end(), text.ids.begin(), text.ids.end());
    }
    for (int32_t row = 1; head_ == Head::kMaskedLm && row < batch_.rows(); row += 3) chosen_.push_back(row);
  }

  WeightTensors& weight_tensors() { return trainee_->weight_tensors(); }
  PackedCopies& packed() { return *trainee_->packed(); }

  // Returns the loss of scale-invariant fine-tuning and computes all gradients. `perturbation` is the start, and receives the result.
  double RunSift(float weight, std::vector<float>* perturbation) {
    const PerturbedProgram perturbed = trainee_->BuildPerturbed(kLogits).value();
    for (int32_t i = 0; i < batch_.rows() * perturbed.width; ++i) {
      perturbation->push_back(static_cast<float>(0.01 * std::sin(1.0 + i)));
    }
    PERUSE_CHECK(trainee_->BeginTraining().ok());  // with the constants of the perturbed program
    packed().ZeroGradients();
    packed().Pack();
    Sift sift(perturbed, packed().parameters(), weight);
    const auto loss = [&](const Block& logits, const Block& gradient) { return Loss(logits, gradient); };
    const double sum = sift.Learn({inputs_, batch_, chosen_}, {}, loss, batch_.sequences(), perturbation).value();
    packed().Gather();
    return sum;
  }

  // Shapes of all dropout on the longest text, sorted by size.
  std::vector<Shape> DroppedOfLongestText() {
    const auto shorter = [](const GoldenText& a, const GoldenText& b) { return a.ids.size() < b.ids.size(); };
    const GoldenText& text = *std::max_element(texts_.begin(), texts_.end(), shorter);
    const auto length = static_cast<int32_t>(text.ids.size());
    RaggedBatch batch;
    batch.Append(length);
    const ModelInput input = text.input();
    std::vector<int32_t> chosen;
    if (head_ == Head::kMaskedLm) chosen = {1};
    packed().Pack();
    PERUSE_CHECK(
        step_->Begin({std::span(&input, 1), batch, chosen}, {.dropout = 0.1f, .attention_dropout = 0.1f}).ok());
    std::vector<Shape> shapes;
    for (const auto [rows, cols] : step_->dropped()) shapes.push_back({cols, rows});
    for (const Op& op : program_.ops) {
      const auto* attention = std::get_if<ops::Attention>(&op);
      if (attention != nullptr && attention->scale > 0) shapes.push_back({length, attention->heads * length});
    }
    std::sort(shapes.begin(), shapes.end());
    return shapes;
  }

  double Run(const StepOptions& options = {}) {
    packed().ZeroGradients();
    packed().Pack();
    PERUSE_CHECK(step_->Begin({inputs_, batch_, chosen_}, options).ok());
    step_->Forward();
    const double loss = Loss(step_->output(), step_->output_gradient());
    step_->Backward();
    packed().Gather();
    return loss;
  }

 private:
  double Loss(const Block& logits, const Block& gradient) {
    std::vector<int32_t> labels;
    std::vector<float> targets;
    const auto classes = static_cast<int32_t>(logits.cols);
    switch (head_) {
      case Head::kQuestionAnswering: {
        std::vector<int32_t> starts, ends;
        for (const GoldenText& text : texts_) {
          starts.push_back(static_cast<int32_t>(text.ids.size()) / 3);
          ends.push_back(static_cast<int32_t>(text.ids.size()) / 2);
        }
        return SpanCrossEntropy(logits, batch_, starts, ends, static_cast<double>(texts_.size()), gradient);
      }
      case Head::kReplacedTokenDetection:
        for (int64_t r = 0; r < logits.rows; ++r) targets.push_back(static_cast<float>(r % 2));
        return SigmoidCrossEntropy(logits, targets, static_cast<double>(logits.rows), gradient);
      case Head::kSequenceClassification:
        for (int32_t r = 0; r < logits.rows; ++r) labels.push_back(r % classes);
        break;
      case Head::kTokenClassification:
        for (int32_t r = 0; r < logits.rows; ++r) labels.push_back(r % 5 == 4 ? kIgnored : r * 7 % classes);
        break;
      default:
        for (const int32_t row : chosen_) labels.push_back((ids_[static_cast<size_t>(row)] * 5 + 3) % classes);
    }
    return CrossEntropy(logits, labels, {}, CrossEntropyMass(labels, {}), gradient);
  }

  std::vector<GoldenText> texts_;
  Head head_;
  std::unique_ptr<Trainee> trainee_;
  Program program_;
  std::unique_ptr<Step> step_;
  std::vector<ModelInput> inputs_;
  RaggedBatch batch_;
  std::vector<int32_t> ids_, chosen_;
};

double LargestGradient(const std::string& name) { return testing::LargestGradient(Goldens(), name + "/gradient/"); }
void ExpectSummary(const std::string& key, const float* values, int64_t size, double within, double floor) {
  testing::ExpectSummary(Goldens(), key, values, size, within, floor);
}

class ParameterGradients : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(ParameterGradients, OfEveryParameterAgreeWithPyTorch) {
  const GoldenCase& golden = GetParam();
  Lesson lesson(golden);
  const double loss = lesson.Run();
  EXPECT_NEAR(loss, Goldens().Floats(golden.name + "/loss")[0], 1e-5 * loss);
  // A gradient that is zero because its parts cancel (that of a key's bias) is as exact as these parts.
  const double floor = ops::kEpsilon * ops::kDot * LargestGradient(golden.name);
  std::set<std::string> found;
  for (const WeightTensor& weight_tensor : lesson.weight_tensors().tensors()) {
    const std::string key = golden.name + "/gradient/" + weight_tensor.file_name;
    if (!weight_tensor.trained) continue;
    ASSERT_TRUE(Goldens().Has(key + "/samples")) << key;
    found.insert(key);
    ExpectSummary(key, weight_tensor.gradient, weight_tensor.size, 1e-5, floor);
  }
  for (const auto& [key, entry] : Goldens().entries) {
    if (!key.starts_with(golden.name + "/gradient/") || !key.ends_with("/samples")) continue;
    EXPECT_TRUE(found.contains(key.substr(0, key.size() - 8))) << key << " is a gradient that we have not";
  }
}

std::string CaseName(const ::testing::TestParamInfo<GoldenCase>& info) {
  std::string name = info.param.name;
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Tiny, ParameterGradients, ::testing::ValuesIn(CasesWith("/loss")), CaseName);

class DropoutPlaces : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(DropoutPlaces, AreThoseOfTheReferenceClasses) {
  const GoldenCase& golden = GetParam();
  Lesson lesson(golden);
  const std::vector<float> want = Goldens().Floats(golden.name + "/dropout");
  std::vector<Shape> expected;
  for (size_t i = 0; i < want.size(); i += 2) {
    expected.push_back({.cols = static_cast<int64_t>(want[i + 1]), .rows = static_cast<int64_t>(want[i])});
  }
  std::sort(expected.begin(), expected.end());
  const std::vector<Shape> found = lesson.DroppedOfLongestText();
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].cols, expected[i].cols);
    EXPECT_LE(found[i].rows, expected[i].rows);  // rows that are never read are not computed
  }
}

INSTANTIATE_TEST_SUITE_P(Tiny, DropoutPlaces, ::testing::ValuesIn(CasesWith("/dropout")), CaseName);

// The masks of a step are a function of seed and number, so central differences exist.
TEST(DropoutGradients, AgreeWithCentralDifferences) {
  const StepOptions options = {.dropout = 0.2f, .attention_dropout = 0.2f, .seed = 5, .number = 3};
  for (const GoldenCase& golden : CasesWith("/adamw/losses")) {
    SCOPED_TRACE(golden.name);
    Lesson lesson(golden);
    EXPECT_NE(lesson.Run(options), lesson.Run());
    lesson.Run(options);
    for (WeightTensor& weight_tensor : lesson.weight_tensors().tensors()) {
      SCOPED_TRACE(weight_tensor.file_name);
      const std::vector<float> values(weight_tensor.values, weight_tensor.values + weight_tensor.size);
      const std::vector<float> slope(weight_tensor.gradient, weight_tensor.gradient + weight_tensor.size);
      const double square = std::inner_product(slope.begin(), slope.end(), slope.begin(), 0.0);
      if (square < 1e-4) continue;        // below the rounding error of the loss
      const double pace = 1e-3 / square;  // a step along the gradient that changes the loss by a thousandth
      double losses[2];
      for (const int side : {0, 1}) {
        for (size_t i = 0; i < values.size(); ++i) {
          weight_tensor.values[i] = static_cast<float>(values[i] + (side == 0 ? -pace : pace) * slope[i]);
        }
        losses[side] = lesson.Run(options);
      }
      std::copy(values.begin(), values.end(), weight_tensor.values);
      // A loss near 1 is exact to some 1e-6 in float32, so a difference of 2e-3 is exact to one or two thousandths; the remaining tolerance
      // is for curvature.
      EXPECT_NEAR((losses[1] - losses[0]) / (2 * pace), square, 0.02 * square);
    }
  }
}

class ThirtySteps : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(ThirtySteps, OfAdamWAgreeWithPyTorch) {
  const GoldenCase& golden = GetParam();
  Lesson lesson(golden);
  AdamW optimiser(lesson.weight_tensors(), lesson.packed().workers(),
                  {.learning_rate = 1e-3f, .weight_decay = 0.01f, .warmup = 0.1f, .steps = 30});
  ASSERT_TRUE(optimiser.Allocate().ok());
  for (const float want : Goldens().Floats(golden.name + "/adamw/losses")) {
    const double loss = lesson.Run();
    EXPECT_NEAR(loss, want, 1e-4 * want);
    optimiser.Update();
  }
  const double largest = LargestGradient(golden.name);
  for (const WeightTensor& weight_tensor : lesson.weight_tensors().tensors()) {
    // Adam takes full steps even if a gradient is only rounding; such tensors differ.
    if (Goldens().Floats(golden.name + "/gradient/" + weight_tensor.file_name + "/sums")[0] < 1e-6 * largest) continue;
    ExpectSummary(golden.name + "/weight/" + weight_tensor.file_name, weight_tensor.values, weight_tensor.size, 1e-4,
                  0);
  }
}

INSTANTIATE_TEST_SUITE_P(Tiny, ThirtySteps, ::testing::ValuesIn(CasesWith("/adamw/losses")), CaseName);

class SiftGoldens : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(SiftGoldens, AgreeWithPyTorch) {
  const GoldenCase& golden = GetParam();
  Lesson lesson(golden);
  std::vector<float> perturbation;
  const double loss = lesson.RunSift(/*weight=*/4, &perturbation);
  const std::string key = golden.name + "/sift/";
  EXPECT_NEAR(loss, Goldens().Floats(key + "loss")[0], 1e-5 * loss);
  ExpectSummary(key + "perturbation", perturbation.data(), static_cast<int64_t>(perturbation.size()), 1e-5, 0);
  const double floor = ops::kEpsilon * ops::kDot * LargestGradient(golden.name);
  for (const WeightTensor& weight_tensor : lesson.weight_tensors().tensors()) {
    ExpectSummary(key + "gradient/" + weight_tensor.file_name, weight_tensor.gradient, weight_tensor.size, 1e-5, floor);
  }
}

INSTANTIATE_TEST_SUITE_P(Tiny, SiftGoldens, ::testing::ValuesIn(CasesWith("/sift/loss")), CaseName);

}  // namespace
}  // namespace peruse::train

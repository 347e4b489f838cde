#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/tasks/labels/gliclass_reader.h"
#include "core/train/recipes/trainee.h"
#include "core/train/session/teach_session.h"
#include "tests/native/models/fixtures.h"

namespace peruse::train {
namespace {

using peruse::testing::Bytes;
using peruse::testing::ReadFixture;

const std::vector<std::string> kLabels = {"person", "date"};

std::unique_ptr<Trainee> Load(const std::string& variant) {
  auto trainee =
      Trainee::Create(ReadFixture("gliclass/" + variant + "/config.json"), Head::kSequenceClassification, kLabels);
  EXPECT_TRUE(trainee.ok()) << trainee.status().message();
  if (!trainee.ok()) return nullptr;
  EXPECT_TRUE((*trainee)->FeedWeights(Bytes(ReadFixture("gliclass/" + variant + "/model.safetensors"))).ok());
  const Status finished = (*trainee)->FinishWeights();
  EXPECT_TRUE(finished.ok()) << finished.message();
  return std::move(*trainee);
}

class OneText {
 public:
  OneText(Trainee& trainee, Program program) : trainee_(trainee), program_(std::move(program)) {
    const LabelledInput& format = *std::get_if<LabelledInput>(&trainee.config().label_input);
    const std::vector<int32_t> text = {9, 14, 23, 31}, label = {7, 12};
    std::vector<int32_t> labels;
    for (size_t i = 0; i < kLabels.size(); ++i) {
      labels.push_back(format.marker_id);
      labels.push_back(label[i]);
    }
    labels.push_back(format.separator_id);
    ids_ = format.labels_first ? labels : text;
    const std::vector<int32_t>& second = format.labels_first ? text : labels;
    ids_.insert(ids_.end(), second.begin(), second.end());
    types_.assign(ids_.size(), 0);
    head_ = LabelRows(format, ids_);
    PairTextWithLabels(kLabels.size(), &head_);
    batch_.Append(static_cast<int32_t>(ids_.size()));
    step_ = std::make_unique<Step>(program_, trainee.packed()->parameters());
  }

  double Loss(bool backward) {
    const ModelInput input = {ids_, types_};
    trainee_.packed()->Pack();
    StepOptions options;
    options.backward = backward;
    const Status begun =
        step_->Begin({.texts = std::span(&input, 1), .batch = batch_, .chosen = {}, .head = head_.inputs()}, options);
    EXPECT_TRUE(begun.ok()) << begun.message();
    step_->Forward();
    const Block logits = step_->output();
    EXPECT_EQ(logits.rows * logits.cols, 2);
    const double a = double{logits.data[0]}, b = double{logits.data[1]}, largest = std::max(a, b);
    const double sum = std::exp(a - largest) + std::exp(b - largest);
    if (backward) {
      trainee_.packed()->ZeroGradients();
      float* const gradient = step_->output_gradient().data;
      gradient[0] = static_cast<float>(std::exp(a - largest) / sum);
      gradient[1] = static_cast<float>(std::exp(b - largest) / sum - 1);
      step_->Backward();
      trainee_.packed()->Gather();
    }
    return largest + std::log(sum) - b;
  }

 private:
  Trainee& trainee_;
  const Program program_;
  std::vector<int32_t> ids_, types_;
  HeadLists head_;
  RaggedBatch batch_;
  std::unique_ptr<Step> step_;
};

class LabelReading : public ::testing::TestWithParam<const char*> {};

// The slope along the gradient equals the gradient's length, to which all parameters contribute.
TEST_P(LabelReading, GradientsAreSlopesOfTheLoss) {
  const auto trainee = Load(GetParam());
  ASSERT_NE(trainee, nullptr);
  for (WeightTensor& weight_tensor : trainee->weight_tensors().tensors()) weight_tensor.trained = true;
  ASSERT_TRUE(trainee->BeginTraining().ok());
  auto program = trainee->ProgramFor(kLogits);
  ASSERT_TRUE(program.ok());
  OneText text(*trainee, std::move(*program));
  text.Loss(/*backward=*/true);
  std::vector<WeightTensor>& weight_tensors = trainee->weight_tensors().tensors();
  for (WeightTensor& weight_tensor : weight_tensors) {
    const std::vector<float> gradient(weight_tensor.gradient, weight_tensor.gradient + weight_tensor.size);
    double squares = 0;
    for (const float g : gradient) squares += double{g} * double{g};
    const double length = std::sqrt(squares);
    if (length < 1e-4) continue;
    const std::vector<float> values(weight_tensor.values, weight_tensor.values + weight_tensor.size);
    const auto loss = [&](double by) {
      for (size_t i = 0; i < values.size(); ++i)
        weight_tensor.values[i] = static_cast<float>(double{values[i]} + by * double{gradient[i]} / length);
      return text.Loss(/*backward=*/false);
    };
    // Steps that change the loss by at most 0.004, because larger steps show curvature and kinks. The mean of several hides float32
    // rounding.
    const double longest = std::min(4e-3, 2e-3 / length);
    double slope = 0;
    for (const double share : {1.0, 0.9, 0.8, 0.7, 0.6}) {
      const double step = share * longest;
      slope += (loss(step) - loss(-step)) / (2 * step) / 5;
    }
    std::copy(values.begin(), values.end(), weight_tensor.values);
    EXPECT_NEAR(slope, length, 2e-3 * length + 2e-4) << weight_tensor.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, LabelReading,
                         ::testing::Values("simple", "simple-text-first", "weighted-dot", "mlp", "hopfield",
                                           "cross-attn", "lstm", "average", "pool-avg", "pool-max", "normalize",
                                           "segments", "layer", "modernbert"));

TEST(LabelReading, OtherModelsThatReadLabelsAreRefused) {
  for (const char* variant : {"bi", "bi-fused"}) {
    const auto trainee = Trainee::Create(ReadFixture(std::string("gliclass/") + variant + "/config.json"),
                                         Head::kSequenceClassification, kLabels);
    EXPECT_EQ(trainee.status().code(), StatusCode::kUnsupported) << variant;
  }
}

}  // namespace
}  // namespace peruse::train

// Replaced-token detection: losses, gradients and AdamW steps of generator and discriminator, compared with PyTorch
// (tests/reference/make_pretraining_goldens.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/json_writer.h"
#include "core/families/family.h"
#include "core/ops/reference.h"
#include "core/train/recipes/generator.h"
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

const GoldenCase& CaseOf(const std::string& name) {
  static const std::vector<GoldenCase> cases = peruse::testing::GoldenCases();
  return *std::find_if(cases.begin(), cases.end(), [&](const GoldenCase& golden) { return golden.name == name; });
}

struct Pair {
  const char* name;
  const char* generator;
  const char* discriminator;
  double weight;
  bool disentangled;
};
const Pair kPairs[] = {
    {"electra", "electra-masked-lm", "electra-rtd", 50, false},
    {"convbert", "convbert-masked-lm", "convbert-sequence", 50, false},
    {"deberta", "deberta-v2-masked-lm", "deberta-v2-rtd", 10, true},
};

class Lesson {
 public:
  Lesson(const Pair& pair, const AdamWOptions& adamw)
      : weight_(pair.weight),
        generator_trainee_(LoadTrainee(CaseOf(pair.generator), Head::kMaskedLm)),
        trainee_(LoadTrainee(CaseOf(pair.discriminator), Head::kReplacedTokenDetection)),
        generator_(*generator_trainee_, *trainee_, pair.disentangled) {
    for (WeightTensor& weight_tensor : trainee_->weight_tensors().tensors()) {
      weight_tensor.trained = trainee_->IsTrainable(weight_tensor);
      // A formula gives values to heads that the checkpoint lacks.
      for (int64_t i = 0; weight_tensor.fresh && i < weight_tensor.size; ++i)
        weight_tensor.values[i] = static_cast<float>(0.1 * std::sin(1.0 + static_cast<double>(i)));
    }
    PERUSE_CHECK(trainee_->BeginTraining().ok());
    const Status prepared = generator_.Prepare(adamw, /*seed=*/42);
    EXPECT_TRUE(prepared.ok()) << prepared.message();
    optimiser_ = std::make_unique<AdamW>(trainee_->weight_tensors(), trainee_->packed()->workers(), adamw);
    PERUSE_CHECK(optimiser_->Allocate().ok());
    program_ = trainee_->ProgramFor(kLogits).value();
    step_ = std::make_unique<Step>(program_, trainee_->packed()->parameters());
    const GoldenCase& golden = CaseOf(pair.discriminator);
    int32_t row = 0;
    for (const GoldenText& text : GoldenTexts(golden, golden.Expected())) Mask(text, &row);
    for (const Example& example : masked_) part_.push_back(&example);
    tokens_ = row;
  }

  WeightTensors& generator() { return generator_trainee_->weight_tensors(); }
  WeightTensors& discriminator() { return trainee_->weight_tensors(); }

  // Returns both losses. Gradients are those of L_words + weight L_replaced, before the generator's gradients of shared tables are added.
  std::pair<double, double> Run() {
    generator_.ZeroGradients();
    trainee_->packed()->ZeroGradients();
    trainee_->packed()->Pack();
    const double words =
        generator_.Replace(part_, {}, static_cast<double>(sampled_.size()), 0, sampled_, &replaced_).value();
    RaggedBatch batch;
    std::vector<ModelInput> inputs;
    std::vector<const Example*> part;
    for (const Example& example : replaced_) {
      inputs.push_back({example.ids, example.types});
      batch.Append(static_cast<int32_t>(example.ids.size()));
      part.push_back(&example);
    }
    PERUSE_CHECK(step_->Begin({inputs, batch, {}}, {}).ok());
    step_->Forward();
    const std::unique_ptr<Objective> objective = Objective::Create(Goal::kReplaced, {});
    EXPECT_EQ(objective->Mass(part, 1), tokens_);
    const double replaced =
        objective->Loss(part, batch, step_->output(), tokens_ / weight_, step_->output_gradient()) / weight_;
    step_->Backward();
    trainee_->packed()->Gather();
    return {words, replaced};
  }
  void Update() { EXPECT_TRUE(std::isfinite(generator_.Update(*optimiser_))); }

 private:
  void Mask(const GoldenText& text, int32_t* row) {
    constexpr int32_t kMask = 4;
    const int32_t vocabulary = trainee_->config().vocab_size;
    Example example = {.ids = text.ids, .types = text.type_ids};
    for (int32_t place = 0; place < static_cast<int32_t>(text.ids.size()); ++place, ++*row) {
      if (*row % 3 != 1) continue;
      int32_t& id = example.ids[static_cast<size_t>(place)];
      example.chosen.push_back(place);
      example.labels.push_back(id);
      sampled_.push_back(*row / 3 % 4 == 0 ? id : (id * 7 + *row * 3 + 1) % vocabulary);
      const int32_t fate = *row / 3 % 5;
      if (fate == 0) id = (*row * 11 + 7) % vocabulary;
      if (fate > 1) id = kMask;
    }
    masked_.push_back(std::move(example));
  }

  const double weight_;
  std::unique_ptr<Trainee> generator_trainee_, trainee_;
  Generator generator_;
  std::unique_ptr<AdamW> optimiser_;
  Program program_;
  std::unique_ptr<Step> step_;
  std::vector<Example> masked_, replaced_;
  std::vector<const Example*> part_;
  std::vector<int32_t> sampled_;
  double tokens_ = 0;
};

const std::string& NameOf(const WeightTensor& weight_tensor) {
  return weight_tensor.file_name.empty() ? weight_tensor.name : weight_tensor.file_name;
}

class Detection : public ::testing::TestWithParam<Pair> {
 protected:
  const std::string key_ = std::string("detection/") + GetParam().name;

  // Compares the tensors of one model with `what` in the goldens, which must not contain others.
  template <typename Values>
  void ExpectSide(const char* side, const char* what, WeightTensors& weight_tensors, double floor, Values values) {
    const std::string prefix = key_ + "/" + side + "/" + what + "/";
    const double largest = LargestGradient(PretrainingGoldens(), key_ + "/");
    std::set<std::string> found;
    for (const WeightTensor& weight_tensor : weight_tensors.tensors()) {
      if (!weight_tensor.updates()) continue;
      const std::string key = prefix + NameOf(weight_tensor);
      ASSERT_TRUE(PretrainingGoldens().Has(key + "/samples")) << key;
      found.insert(key);
      const std::string gradient = key_ + "/" + side + "/gradient/" + NameOf(weight_tensor) + "/sums";
      // Adam takes full steps even if a gradient is only rounding; such tensors differ.
      if (std::string_view(what) == "weight" && PretrainingGoldens().Floats(gradient)[0] < 1e-6 * largest) continue;
      ExpectSummary(PretrainingGoldens(), key, values(weight_tensor), weight_tensor.size,
                    std::string_view(what) == "weight" ? 1e-4 : 1e-5, floor);
    }
    for (const auto& [key, entry] : PretrainingGoldens().entries) {
      if (!key.starts_with(prefix) || !key.ends_with("/samples")) continue;
      EXPECT_TRUE(found.contains(key.substr(0, key.size() - 8))) << key << " is a tensor that we have not";
    }
  }
};

TEST_P(Detection, GradientsOfEveryParameterAgreeWithPyTorch) {
  Lesson lesson(GetParam(), {});
  const auto [words, replaced] = lesson.Run();
  const std::vector<float> losses = PretrainingGoldens().Floats(key_ + "/losses");
  EXPECT_NEAR(words, losses[0], 1e-5 * words);
  EXPECT_NEAR(replaced, losses[1], 1e-5 * replaced);
  lesson.Update();  // adds the generator's gradients of shared tables
  const double floor = ops::kEpsilon * ops::kDot * LargestGradient(PretrainingGoldens(), key_ + "/");
  const auto gradient = [](const WeightTensor& weight_tensor) { return weight_tensor.gradient; };
  ExpectSide("generator", "gradient", lesson.generator(), floor, gradient);
  ExpectSide("discriminator", "gradient", lesson.discriminator(), floor, gradient);
}

TEST_P(Detection, FiveStepsOfAdamWAgreeWithPyTorch) {
  Lesson lesson(GetParam(), {.learning_rate = 1e-3f, .weight_decay = 0.01f, .warmup = 0.2f, .steps = 5});
  const std::vector<float> steps = PretrainingGoldens().Floats(key_ + "/steps");
  for (size_t i = 0; i < steps.size(); i += 2) {
    const auto [words, replaced] = lesson.Run();
    EXPECT_NEAR(words, steps[i], 1e-4 * words);
    EXPECT_NEAR(replaced, steps[i + 1], 1e-4 * replaced);
    lesson.Update();
  }
  const auto values = [](const WeightTensor& weight_tensor) { return weight_tensor.values; };
  ExpectSide("generator", "weight", lesson.generator(), 0, values);
  ExpectSide("discriminator", "weight", lesson.discriminator(), 0, values);
}

INSTANTIATE_TEST_SUITE_P(Tiny, Detection, ::testing::ValuesIn(kPairs),
                         [](const auto& info) { return std::string(info.param.name); });

// After an update, both models have bit-identical tables.
TEST(SharedTables, StayOne) {
  Lesson lesson(kPairs[0], {.learning_rate = 1e-3f, .warmup = 0, .steps = 5});
  lesson.Run();
  lesson.Update();
  int32_t shared = 0;
  for (const WeightTensor& own : lesson.generator().tensors()) {
    if (!own.follows) continue;
    ++shared;
    for (const WeightTensor& theirs : lesson.discriminator().tensors()) {
      if (theirs.name == own.name)
        EXPECT_TRUE(std::equal(own.values, own.values + own.size, theirs.values)) << own.name;
    }
  }
  EXPECT_EQ(shared, 3);
}

// Samples have the probabilities of the softmax, are reproducible, and determine the targets.
TEST(Generator, DrawsWordsAsProbableAsItSays) {
  const auto trainee = LoadTrainee(CaseOf("electra-masked-lm"), Head::kMaskedLm);
  const auto discriminator = LoadTrainee(CaseOf("electra-rtd"), Head::kReplacedTokenDetection);
  PERUSE_CHECK(discriminator->BeginTraining().ok());
  Generator generator(*trainee, *discriminator, /*disentangled=*/false);
  ASSERT_TRUE(generator.Prepare({}, 42).ok());
  Example text = {.ids = {5, 9, 4, 11, 12}, .types = {0, 0, 0, 0, 0}, .labels = {10}, .chosen = {2}};
  const Part part = {&text};
  const Program program = trainee->ProgramFor(kLogits).value();
  Step step(program, trainee->packed()->parameters());
  RaggedBatch batch;
  batch.Append(5);
  const std::vector<ModelInput> inputs = {{text.ids, text.types}};
  ASSERT_TRUE(step.Begin({inputs, batch, text.chosen}, {.backward = false}).ok());
  step.Forward();
  double sum = 0;
  const float* logits = step.output().row(0);
  for (int64_t i = 0; i < step.output().cols; ++i) sum += std::exp(double{logits[i]});
  constexpr int32_t kDraws = 4000;
  std::vector<double> counts(static_cast<size_t>(step.output().cols));
  std::vector<Example> replaced;
  for (int32_t i = 0; i < kDraws; ++i) {
    const StepOptions options = {.backward = false, .seed = 42, .number = static_cast<uint32_t>(i)};
    ASSERT_TRUE(generator.Replace(part, options, 1, 0, {}, &replaced).ok());
    const int32_t id = replaced[0].ids[2];
    ++counts[static_cast<size_t>(id)];
    EXPECT_EQ(replaced[0].targets[2], id == 10 ? 0.0f : 1.0f);
    EXPECT_EQ(replaced[0].targets[1], 0.0f);
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    const double mean = kDraws * std::exp(double{logits[i]}) / sum;
    EXPECT_NEAR(counts[i], mean, 5 * std::sqrt(mean) + 1) << i;
  }
  std::vector<Example> again;
  const StepOptions last = {.backward = false, .seed = 42, .number = kDraws - 1};
  ASSERT_TRUE(generator.Replace(part, last, 1, 0, {}, &again).ok());
  EXPECT_EQ(again[0].ids, replaced[0].ids);
}

// In these texts ids count up, so that a replaced token stands out.
Teacher::Report Pretrain(const Pair& pair) {
  const auto generator = LoadTrainee(CaseOf(pair.generator), Head::kMaskedLm);
  const auto trainee = LoadTrainee(CaseOf(pair.discriminator), Head::kReplacedTokenDetection);
  TeachOptions options;
  options.epochs = 40;
  options.adamw.learning_rate = 5e-3f;
  options.dropout = options.attention_dropout = 0;
  options.masking = {.masked = 1, .random = 0, .mask_id = 4, .vocabulary = 48};
  options.detection_weight = static_cast<float>(pair.weight);
  options.disentangled = pair.disentangled;
  Teacher teacher(*trainee, Goal::kReplaced, options, generator.get());
  for (int32_t i = 0; i < 120; ++i) {
    Example text;
    for (int32_t t = 0; t < 8 + i % 5; ++t) {
      text.ids.push_back(8 + (i * 7 + t) % 24);
      text.types.push_back(0);
      text.chosen.push_back(t);
    }
    teacher.Add(i % 4 == 3 ? Teacher::kValidation : Teacher::kTraining, text);
  }
  const auto plan = teacher.Begin();
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  for (bool more = plan.ok(); more;) {
    const auto progress = teacher.Advance();
    EXPECT_TRUE(progress.ok()) << progress.status().message();
    more = progress.ok() && progress->more;
  }
  return teacher.report();
}

TEST(PretrainDetection, LearnsAndRepeatsItself) {
  for (const Pair& pair : {kPairs[1], kPairs[2]}) {
    SCOPED_TRACE(pair.name);
    const Teacher::Report report = Pretrain(pair);
    EXPECT_LT(report.epochs.back().generator_loss, 0.5 * report.epochs.front().generator_loss);
    EXPECT_LT(report.epochs.back().validation->loss, 0.7 * report.epochs.front().validation->loss);
    EXPECT_GT(report.epochs.back().validation->accuracy, 0.9);
    EXPECT_EQ(report.losses, Pretrain(pair).losses);
  }
}

// ELECTRA's generator (Clark et al., 2020) has a quarter of the width and the same embeddings; those of other families have half of the
// layers.
TEST(Generator, IsSmallerThanItsModel) {
  const auto made = [](const std::string& name, int32_t hidden_size) {
    const std::string json = CaseOf(name).Config();
    ConfiguredFamily family = ReadFamily(json).value();
    if (hidden_size > 0) family.config.hidden_size = hidden_size;
    return GeneratorConfig(json, *family.family, family.config);
  };
  for (const char* name : {"electra-rtd", "convbert-sequence"}) {
    const ModelConfig model = ReadFamily(CaseOf(name).Config()).value().config;
    const auto generator = ReadFamily(made(name, 0));
    ASSERT_TRUE(generator.ok()) << generator.status().message();
    EXPECT_EQ(generator->config.hidden_size * 4, model.hidden_size) << name;
    EXPECT_EQ(generator->config.intermediate_size, std::max(1, model.intermediate_size / 4)) << name;
    EXPECT_EQ(generator->config.num_attention_heads, std::max(1, model.num_attention_heads / 4)) << name;
    EXPECT_EQ(generator->config.embedding_size, model.embedding_size) << name;
    EXPECT_EQ(generator->config.num_hidden_layers, model.num_hidden_layers) << name;
    EXPECT_EQ(generator->config.vocab_size, model.vocab_size) << name;
  }
  for (const char* name : {"deberta-v2-rtd", "bert-sequence", "distilbert-sequence"}) {
    const ModelConfig model = ReadFamily(CaseOf(name).Config()).value().config;
    const auto generator = ReadFamily(made(name, 0));
    ASSERT_TRUE(generator.ok()) << generator.status().message();
    EXPECT_EQ(generator->config.num_hidden_layers, model.num_hidden_layers / 2) << name;
    EXPECT_EQ(generator->config.hidden_size, model.hidden_size) << name;
  }
  // A width that is not divisible by four stays, and layers are removed.
  const auto odd = ReadFamily(made("electra-rtd", 30));
  ASSERT_TRUE(odd.ok());
  EXPECT_EQ(odd->config.num_hidden_layers, 1);
}

TEST(Generator, RefusesAnotherWidthOfWords) {
  const auto trainee = LoadTrainee(CaseOf("bert-masked-lm"), Head::kMaskedLm);  // embeddings as wide as hidden states
  const auto discriminator = LoadTrainee(CaseOf("electra-rtd"), Head::kReplacedTokenDetection);
  PERUSE_CHECK(discriminator->BeginTraining().ok());
  EXPECT_EQ(Generator(*trainee, *discriminator, false).Prepare({}, 42).code(), StatusCode::kShapeMismatch);
}

}  // namespace
}  // namespace peruse::train

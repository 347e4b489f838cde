#include "core/train/recipes/contrast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/train/recipes/trials.h"
#include "tests/native/train/threads_here.h"

namespace peruse::train {
namespace {

std::vector<Example> TextsWith(const std::vector<int32_t>& labels, size_t tokens) {
  std::vector<Example> texts;
  for (size_t i = 0; i < labels.size(); ++i) {
    Example example;
    for (size_t t = 0; t < tokens; ++t)
      example.ids.push_back(static_cast<int32_t>(5 + (i * 31 + t * 17 + t * t * i) % 90));
    // The label is visible in the first tokens.
    example.ids[0] = 100 + labels[i];
    example.types.assign(tokens, 0);
    example.labels = {labels[i]};
    texts.push_back(std::move(example));
  }
  return texts;
}

Part AllOf(const std::vector<Example>& texts) {
  Part part;
  for (const Example& text : texts) part.push_back(&text);
  return part;
}

// The definition, on vectors [texts, width].
double LossOf(const std::vector<double>& vectors, size_t width, const Part& part) {
  double sums[2] = {}, counts[2] = {};
  for (size_t a = 0; a < part.size(); ++a) {
    for (size_t b = a + 1; b < part.size(); ++b) {
      double dot = 0, lengths[2] = {};
      for (size_t i = 0; i < width; ++i) {
        dot += vectors[a * width + i] * vectors[b * width + i];
        lengths[0] += vectors[a * width + i] * vectors[a * width + i];
        lengths[1] += vectors[b * width + i] * vectors[b * width + i];
      }
      const double cosine = dot / std::sqrt(lengths[0] * lengths[1]);
      const bool same = part[a]->labels == part[b]->labels;
      sums[same] += same ? (1 - cosine) * (1 - cosine) : cosine * cosine;
      ++counts[same];
    }
  }
  return (counts[0] > 0 ? sums[0] / counts[0] : 0) + (counts[1] > 0 ? sums[1] / counts[1] : 0);
}

TEST(ContrastLoss, AndGradientAreThoseOfTheDefinition) {
  constexpr size_t kWidth = 5;
  for (const std::vector<int32_t>& labels :
       {std::vector<int32_t>{0, 1, 0, 1, 2, 0}, std::vector<int32_t>{0, 1, 2}, std::vector<int32_t>{1, 1}}) {
    const std::vector<Example> texts = TextsWith(labels, 4);
    const Part part = AllOf(texts);
    std::vector<float> vectors, gradient(labels.size() * kWidth, NAN);
    for (size_t i = 0; i < labels.size() * kWidth; ++i) vectors.push_back(std::sin(static_cast<float>(i * i) * 0.7f));
    const auto rows = static_cast<int64_t>(labels.size());
    const auto cols = static_cast<int64_t>(kWidth);
    const double loss = ContrastLoss(part, {vectors.data(), rows, cols, cols}, {gradient.data(), rows, cols, cols});
    const std::vector<double> exact(vectors.begin(), vectors.end());
    EXPECT_NEAR(loss, LossOf(exact, kWidth, part), 1e-12);
    for (size_t i = 0; i < exact.size(); ++i) {
      constexpr double kStep = 1e-5;
      std::vector<double> more = exact, less = exact;
      more[i] += kStep;
      less[i] -= kStep;
      const double slope = (LossOf(more, kWidth, part) - LossOf(less, kWidth, part)) / (2 * kStep);
      EXPECT_NEAR(double{gradient[i]}, slope, 1e-6) << i;
    }
  }
}

TEST(ContrastLoss, OfAVectorOfZerosIsANumber) {
  const std::vector<Example> texts = TextsWith({0, 1}, 4);
  std::vector<float> vectors = {0, 0, 1, 2}, gradient(4);
  EXPECT_TRUE(std::isfinite(ContrastLoss(AllOf(texts), {vectors.data(), 2, 2, 2}, {gradient.data(), 2, 2, 2})));
  for (const float value : gradient) EXPECT_TRUE(std::isfinite(value));
}

std::vector<int64_t> CountsOf(const Part& part, size_t labels) {
  std::vector<int64_t> counts(labels);
  for (const Example* example : part) ++counts[static_cast<size_t>(example->labels[0])];
  return counts;
}

TEST(ContrastBatches, HoldAllTextsIfTheyAreFew) {
  const std::vector<Example> texts = TextsWith({0, 1, 0, 0, 3}, 4);
  const Part part = ContrastBatches(texts, 32, 2048, 1).Draw(0);
  EXPECT_EQ(std::set<const Example*>(part.begin(), part.end()).size(), 5u);
  EXPECT_EQ(part.size(), 5u);
}

TEST(ContrastBatches, HoldEquallyManyTextsOfEachLabel) {
  std::vector<int32_t> labels(100, 0);
  for (size_t i = 0; i < 20; ++i) labels[i] = 1;
  const std::vector<Example> texts = TextsWith(labels, 4);
  const ContrastBatches batches(texts, 32, 2048, 1);
  const Part first = batches.Draw(0), second = batches.Draw(1);
  EXPECT_EQ(CountsOf(first, 2), (std::vector<int64_t>{16, 16}));
  EXPECT_EQ(std::set<const Example*>(first.begin(), first.end()).size(), 32u);
  EXPECT_NE(first, second);
  EXPECT_EQ(first, ContrastBatches(texts, 32, 2048, 1).Draw(0));
  EXPECT_NE(first, ContrastBatches(texts, 32, 2048, 2).Draw(0));
}

TEST(ContrastBatches, HoldPairsOfSomeLabelsIfThereAreMany) {
  std::vector<int32_t> labels;
  for (int32_t i = 0; i < 150; ++i) labels.push_back(i % 50);
  const std::vector<Example> texts = TextsWith(labels, 4);
  const std::vector<int64_t> counts = CountsOf(ContrastBatches(texts, 32, 2048, 1).Draw(3), 50);
  EXPECT_EQ(std::count(counts.begin(), counts.end(), 2), 16);
  EXPECT_EQ(std::count(counts.begin(), counts.end(), 0), 34);
}

TEST(ContrastBatches, AreLimitedInTokensButHaveTwoPairs) {
  const std::vector<Example> texts = TextsWith({0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}, 100);
  EXPECT_EQ(ContrastBatches(texts, 32, 650, 1).Draw(0).size(), 6u);
  EXPECT_EQ(CountsOf(ContrastBatches(texts, 32, 10, 1).Draw(0), 2), (std::vector<int64_t>{2, 2}));
}

constexpr const char* kEmbedder =
    R"({"model_type": "bert", "vocab_size": 200, "hidden_size": 64, "num_hidden_layers": 3,
    "num_attention_heads": 4, "intermediate_size": 128, "max_position_embeddings": 64})";

std::unique_ptr<Trainee> Embedder(const char* config = kEmbedder, bool sentence = true,
                                  std::vector<std::string> labels = {"a", "b", "c"}) {
  const auto head = sentence ? std::optional(SentenceHead{PooledHead::Pick::kMean, /*normalized=*/true}) : std::nullopt;
  auto trainee = Trainee::Create(config, Head::kSequenceClassification, std::move(labels), head);
  EXPECT_TRUE(trainee.ok()) << trainee.status().message();
  EXPECT_TRUE((*trainee)->BeginFresh().ok());
  (*trainee)->weight_tensors().Initialise(TeachOptions().seed, /*deviation=*/0.02f);
  return std::move(*trainee);
}

TeachOptions Options(int32_t threads = 1) {
  TeachOptions options;
  options.method = Method::kContrast;
  options.batch_size = 32;
  options.adamw.learning_rate = 5e-3f;
  options.threads = ThreadsHere(threads);
  return options;
}

std::vector<int32_t> ThreeLabels(int32_t count) {
  std::vector<int32_t> labels;
  for (int32_t i = 0; i < count; ++i) labels.push_back(i % 3);
  return labels;
}

Teacher::Report Teach(Trainee& trainee, const TeachOptions& options) {
  Teacher teacher(trainee, Goal::kSingleLabel, options);
  for (Example& example : TextsWith(ThreeLabels(36), 12)) teacher.Add(Teacher::kTraining, std::move(example));
  for (Example& example : TextsWith(ThreeLabels(60), 13)) teacher.Add(Teacher::kValidation, std::move(example));
  auto plan = teacher.Begin();
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan->steps, kUsualContrast.updates + 1);
  for (bool more = plan.ok(); more;) {
    const auto progress = teacher.Advance();
    EXPECT_TRUE(progress.ok()) << progress.status().message();
    more = progress.ok() && progress->more;
  }
  return teacher.report();
}

TEST(Contrast, TrainsTheLastLayersAndThenTheHead) {
  const auto trainee = Embedder(), before = Embedder();
  const Teacher::Report report = Teach(*trainee, Options());
  ASSERT_EQ(report.losses.size(), static_cast<size_t>(kUsualContrast.updates + 1));
  EXPECT_LT(report.losses[kUsualContrast.updates - 1], 0.6 * report.losses[0]);
  EXPECT_EQ(report.steps, kUsualContrast.updates + 1);
  EXPECT_GT(report.tokens, 0);
  EXPECT_GT(report.l2, 0);
  EXPECT_TRUE(report.guesses.empty());  // a cross-validation on trained vectors would be too optimistic
  ASSERT_EQ(report.epochs.size(), 1u);
  EXPECT_GE(report.epochs[0].validation->accuracy, 0.95);
  const std::vector<WeightTensor>& weight_tensors = trainee->weight_tensors().tensors();
  for (size_t i = 0; i < weight_tensors.size(); ++i) {
    const WeightTensor& old = before->weight_tensors().tensors()[i];
    const bool changed = !std::equal(old.values, old.values + old.size, weight_tensors[i].values);
    const bool is_below = weight_tensors[i].head.empty() && LayerNumber(weight_tensors[i].name).value_or(0) == 0;
    if (is_below) EXPECT_FALSE(changed) << weight_tensors[i].name;
    if (weight_tensors[i].name.ends_with("output.dense.weight"))
      EXPECT_EQ(changed, !is_below) << weight_tensors[i].name;
  }
}

// The vectors that the head is fitted to start from kept features of the layers below, so the fit's loss must be the whole model's.
TEST(Contrast, FitsTheHeadToTheVectorsOfTheWholeModel) {
  const auto trainee = Embedder();
  const Teacher::Report report = Teach(*trainee, Options());
  const std::vector<Example> texts = TextsWith(ThreeLabels(36), 12);
  ExampleBatch batch;
  batch.Fill(AllOf(texts));
  const auto program = trainee->ProgramFor(kLogits);
  ASSERT_TRUE(program.ok());
  Step step(*program, trainee->packed()->parameters());
  StepOptions options;
  options.backward = false;
  ASSERT_TRUE(step.Begin(batch.inputs(), options).ok());
  step.Forward();
  double loss = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    const float* logits = step.output().row(static_cast<int64_t>(i));
    double sum = 0;
    for (int32_t k = 0; k < 3; ++k) sum += std::exp(logits[k]);
    loss += (std::log(sum) - logits[texts[i].labels[0]]) / static_cast<double>(texts.size());
  }
  EXPECT_NEAR(report.losses.back(), loss, 1e-5);  // the fit computes in double, the model in float
}

TEST(Contrast, GivesTheSameBitsWithThreads) {
  const auto one = Embedder(), three = Embedder();
  EXPECT_EQ(Teach(*one, Options()).losses, Teach(*three, Options(3)).losses);
  for (size_t i = 0; i < one->weight_tensors().tensors().size(); ++i) {
    const WeightTensor &a = one->weight_tensors().tensors()[i], &b = three->weight_tensors().tensors()[i];
    EXPECT_TRUE(std::equal(a.values, a.values + a.size, b.values)) << a.name;
  }
}

Status BeginStatus(Trainee& trainee, Goal goal, const TeachOptions& options = Options()) {
  Teacher teacher(trainee, goal, options);
  for (Example& example : TextsWith(ThreeLabels(6), 12)) {
    if (goal != Goal::kSingleLabel) example.targets = {1, 0, 0};
    teacher.Add(Teacher::kTraining, std::move(example));
  }
  return teacher.Begin().status();
}

TEST(Contrast, IsForEmbeddersAndTextsWithOneLabel) {
  EXPECT_EQ(BeginStatus(*Embedder(), Goal::kMultiLabel).code(), StatusCode::kUnsupported);
  EXPECT_EQ(BeginStatus(*Embedder(), Goal::kSoftLabels).code(), StatusCode::kUnsupported);
  EXPECT_EQ(BeginStatus(*Embedder(kEmbedder, /*sentence=*/false), Goal::kSingleLabel).code(), StatusCode::kUnsupported);
  constexpr const char* kOneLayer =
      R"({"model_type": "bert", "vocab_size": 200, "hidden_size": 64, "num_hidden_layers": 1,
    "num_attention_heads": 4, "intermediate_size": 128, "max_position_embeddings": 64})";
  EXPECT_EQ(BeginStatus(*Embedder(kOneLayer), Goal::kSingleLabel).code(), StatusCode::kUnsupported);
  constexpr const char* kShared =
      R"({"model_type": "albert", "vocab_size": 200, "hidden_size": 64, "embedding_size": 32,
    "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 128, "max_position_embeddings": 64})";
  EXPECT_EQ(BeginStatus(*Embedder(kShared), Goal::kSingleLabel).code(), StatusCode::kUnsupported);
  TeachOptions sift = Options();
  sift.sift = 4;
  EXPECT_EQ(BeginStatus(*Embedder(), Goal::kSingleLabel, sift).code(), StatusCode::kUnsupported);
}

struct Choice {
  std::vector<Trials::Score> scores;
  TeachOptions options;  // of the last training run
};

TeachOptions OptionsOf(Method method) {
  TeachOptions options = Options();
  options.method = method;
  return options;
}

// Runs the default choice of a method. If the texts are `misleading`, the first token of every fourth is that of another label.
Choice Choose(Trainee& trainee, Goal goal, int32_t count, bool misleading = false) {
  std::vector<int32_t> labels;
  for (int32_t i = 0; i < count; ++i) labels.push_back(i % trainee.config().num_labels());
  std::vector<Example> texts = TextsWith(labels, 12);
  for (size_t i = 0; misleading && i < texts.size(); i += 4) texts[i].ids[0] = 100 + (texts[i].labels[0] + 1) % 3;
  for (Example& example : texts) {
    if (goal != Goal::kSingleLabel) example.targets = {example.labels[0] == 0 ? 1.0f : 0.0f, 1, 0};
    if (goal != Goal::kSingleLabel) example.labels.clear();
  }
  Trials trials(trainee, goal, OptionsOf, std::nullopt, /*cross_validate=*/false, std::move(texts), {}, nullptr);
  EXPECT_TRUE(trials.Begin().ok());
  int64_t steps = 0;
  for (bool more = true; more;) {
    const auto progress = trials.Advance();
    EXPECT_TRUE(progress.ok()) << progress.status().message();
    more = progress.ok() && progress->more;
    if (progress.ok()) steps = progress->step;
  }
  EXPECT_EQ(steps, trials.total_steps());
  for (const Trials::Score& score : trials.scores()) EXPECT_EQ(score.guesses.size(), static_cast<size_t>(count));
  return {trials.scores(), trials.options()};
}

TEST(Contrast, IsTheDefaultOfEmbedders) {
  const Choice choice = Choose(*Embedder(), Goal::kSingleLabel, 12);
  ASSERT_EQ(choice.scores.size(), 1u);
  EXPECT_EQ(choice.scores[0].method, Method::kHead);
  EXPECT_EQ(choice.options.method, Method::kContrast);
}

// Guessing is right for a third of the texts.
TEST(Contrast, IsBriefIfTheHeadIsRightForMostTextsOfManyLabels) {
  const Choice clear = Choose(*Embedder(), Goal::kSingleLabel, 36);
  EXPECT_EQ(clear.options.method, Method::kContrast);
  EXPECT_GE(clear.scores[0].accuracy, 5.0 / 6);
  EXPECT_EQ(clear.options.contrast.updates, kBriefContrast.updates);
  EXPECT_EQ(clear.options.contrast.logit_factor, kBriefContrast.logit_factor);
  EXPECT_EQ(clear.options.adamw.learning_rate, 0.75f * Options().adamw.learning_rate);
  const Choice misleading = Choose(*Embedder(), Goal::kSingleLabel, 36, /*misleading=*/true);
  EXPECT_EQ(misleading.options.method, Method::kContrast);
  EXPECT_LT(misleading.scores[0].accuracy, 5.0 / 6);
  EXPECT_EQ(misleading.options.contrast.updates, kUsualContrast.updates);
  EXPECT_EQ(misleading.options.adamw.learning_rate, Options().adamw.learning_rate);
  const Choice two = Choose(*Embedder(kEmbedder, /*sentence=*/true, {"a", "b"}), Goal::kSingleLabel, 36);
  EXPECT_EQ(two.options.method, Method::kContrast);
  EXPECT_GE(two.scores[0].accuracy, 0.875);
  EXPECT_EQ(two.options.contrast.updates, kUsualContrast.updates);
}

TEST(Contrast, IsComparedWithTheHeadIfTextsAreEnough) {
  const Choice choice = Choose(*Embedder(), Goal::kSingleLabel, 60, /*misleading=*/true);
  ASSERT_EQ(choice.scores.size(), 2u);
  EXPECT_EQ(choice.scores[0].method, Method::kContrast);
  EXPECT_EQ(choice.scores[1].method, Method::kHead);
  const double head = choice.scores[1].accuracy, error = std::sqrt(head * (1 - head) / 60);
  EXPECT_EQ(choice.options.method, choice.scores[0].accuracy >= head - error ? Method::kContrast : Method::kHead);
}

TEST(Contrast, IsNotTriedIfTheHeadIsGoodEnough) {
  const Choice choice = Choose(*Embedder(), Goal::kSingleLabel, 60);
  ASSERT_EQ(choice.scores.size(), 1u);
  EXPECT_EQ(choice.scores[0].method, Method::kHead);
  EXPECT_GE(choice.scores[0].accuracy, 0.95);
  EXPECT_EQ(choice.options.method, Method::kHead);
}

// Number of steps that the default choice plans for 48 texts of as many tokens.
int64_t PlannedSteps(Trainee& trainee, size_t tokens) {
  Trials trials(trainee, Goal::kSingleLabel, OptionsOf, std::nullopt, /*cross_validate=*/false,
                TextsWith(ThreeLabels(48), tokens), {}, nullptr);
  EXPECT_TRUE(trials.Begin().ok());
  return trials.total_steps();
}

// The last two layers of this model have 1.58 million weights. Batches of 32 texts with 60 tokens cost 1.5e11 operations in eight updates, and with
// 20 tokens 0.5e11; three folds may cost 2.5e11.
TEST(Contrast, IsComparedWithTheHeadOnlyIfItsLayersAreQuicklyTrained) {
  constexpr const char* kWide =
      R"({"model_type": "bert", "vocab_size": 200, "hidden_size": 256, "num_hidden_layers": 3,
    "num_attention_heads": 4, "intermediate_size": 1024, "max_position_embeddings": 64})";
  constexpr int64_t kContrastSteps = kUsualContrast.updates + 1;
  EXPECT_EQ(PlannedSteps(*Embedder(kWide), 20), 1 + 4 * kContrastSteps);  // the head, three folds, and the final run
  EXPECT_EQ(PlannedSteps(*Embedder(kWide), 60), 1 + kContrastSteps);
}

TEST(Contrast, IsNotTheDefaultForSeveralLabels) {
  EXPECT_EQ(Choose(*Embedder(), Goal::kMultiLabel, 12).options.method, Method::kHead);
}

}  // namespace
}  // namespace peruse::train

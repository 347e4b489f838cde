#include "core/train/recipes/teacher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/backend/reference/reference_backend.h"
#include "core/train/session/exporter.h"
#include "tests/native/models/fixtures.h"
#include "tests/native/train/threads_here.h"

namespace peruse::train {
namespace {

using testing::Bytes;
using testing::GoldenCase;

GoldenCase CaseOf(const std::string& name) {
  for (const GoldenCase& golden : testing::GoldenCases()) {
    if (golden.name == name) return golden;
  }
  return {};
}

std::unique_ptr<Trainee> Load(const GoldenCase& golden, Head head, const std::vector<std::string>& labels) {
  auto trainee = Trainee::Create(golden.Config(), head, labels);
  EXPECT_TRUE(trainee.ok()) << trainee.status().message();
  const std::string weights = golden.Weights();
  const Status fed = (*trainee)->FeedWeights(Bytes(weights));
  EXPECT_TRUE(fed.ok()) << fed.message();
  EXPECT_TRUE((*trainee)->FinishWeights().ok());
  return std::move(*trainee);
}

// A text of random tokens. The label is 1 if it begins with token 7.
Example TextOf(uint32_t number) {
  Example example;
  const uint32_t length = 3 + number * 5 % 7;
  for (uint32_t t = 0; t < length; ++t)
    example.ids.push_back(static_cast<int32_t>(8 + (number * 31 + t * 17 + t * t * number) % 40));
  example.types.assign(length, 0);
  example.labels = {static_cast<int32_t>(number % 2)};
  example.ids[0] = number % 2 == 1 ? 7 : 5;
  return example;
}

struct Lesson {
  std::vector<double> losses;
  Teacher::Report report;
  Teacher::Plan plan;
};
Lesson Teach(Trainee& trainee, Goal goal, TeachOptions options, uint32_t examples, uint32_t validation) {
  Teacher teacher(trainee, goal, options);
  for (uint32_t i = 0; i < examples + validation; ++i) {
    teacher.Add(i < examples ? Teacher::kTraining : Teacher::kValidation, TextOf(i));
  }
  Lesson lesson;
  auto plan = teacher.Begin();
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  if (!plan.ok()) return lesson;
  lesson.plan = *plan;
  for (bool more = true; more;) {
    auto progress = teacher.Advance();
    EXPECT_TRUE(progress.ok()) << progress.status().message();
    if (!progress.ok()) break;
    more = progress->more;
  }
  lesson.report = teacher.report();
  return lesson;
}

class Methods : public ::testing::TestWithParam<std::tuple<const char*, Method>> {};

TEST_P(Methods, LearnWhatIsEasy) {
  const auto& [name, method] = GetParam();
  const auto trainee = Load(CaseOf(name), Head::kSequenceClassification, {"five", "seven"});
  TeachOptions options;
  options.method = method;
  options.layers = 1;
  options.epochs = 30;
  options.adamw.learning_rate = method == Method::kLora ? 1e-2f : 5e-3f;
  const Lesson lesson = Teach(*trainee, Goal::kSingleLabel, options, 64, 32);
  ASSERT_FALSE(lesson.report.epochs.empty());
  const Metrics& best = *lesson.report.epochs[static_cast<size_t>(lesson.report.best_epoch) - 1].validation;
  EXPECT_GE(best.accuracy, 0.97);
  EXPECT_EQ(best.examples, 32);
  EXPECT_EQ(best.confusion[0] + best.confusion[1], 16);
  EXPECT_EQ(lesson.report.steps, lesson.plan.steps);
}

INSTANTIATE_TEST_SUITE_P(
    Tiny, Methods,
    ::testing::Combine(::testing::Values("convbert-sequence", "deberta-v2-sequence", "deberta-v1-sequence",
                                         "bert-sequence", "modernbert-sequence"),
                       ::testing::Values(Method::kHead, Method::kLayers, Method::kLora, Method::kFull)),
    [](const auto& info) {
      std::string text = std::get<0>(info.param) + ("_" + std::to_string(static_cast<int>(std::get<1>(info.param))));
      for (char& letter : text) letter = letter == '-' ? '_' : letter;
      return text;
    });

// Wide enough that every operation is split between threads.
constexpr const char* kWide[] = {
    R"({"model_type": "convbert", "vocab_size": 500, "hidden_size": 128, "embedding_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "intermediate_size": 256, "head_ratio": 2, "conv_kernel_size": 9, "num_groups": 2})",
    R"({"model_type": "deberta-v2", "vocab_size": 500, "hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": 256, "relative_attention": true, "position_buckets": 16, "max_position_embeddings": 64,
        "pos_att_type": ["p2c", "c2p"], "norm_rel_ebd": "layer_norm", "share_att_key": true, "conv_kernel_size": 3,
        "conv_act": "gelu", "position_biased_input": false, "type_vocab_size": 0})",
    R"({"model_type": "mpnet", "vocab_size": 500, "hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": 256, "max_position_embeddings": 66, "relative_attention_num_buckets": 32})"};

// Trains with this number of threads, and returns the losses and all parameters.
std::vector<double> LearntBy(int32_t threads, const char* config, TeachOptions options) {
  auto trainee = Trainee::Create(config, Head::kSequenceClassification, {"a", "b"});
  EXPECT_TRUE(trainee.ok()) << trainee.status().message();
  EXPECT_TRUE((*trainee)->BeginFresh().ok());
  options.threads = ThreadsHere(threads);
  options.epochs = 1;
  Teacher teacher(**trainee, Goal::kSingleLabel, options);
  for (uint32_t number = 0; number < 36; ++number) {
    Example example;
    for (uint32_t t = 0; t < 20 + number; ++t)
      example.ids.push_back(static_cast<int32_t>(5 + (number * 31 + t * 17 + t * t * number) % 490));
    example.types.assign(example.ids.size(), 0);
    example.labels = {static_cast<int32_t>(number % 2)};
    teacher.Add(number < 32 ? Teacher::kTraining : Teacher::kValidation, std::move(example));
  }
  const auto plan = teacher.Begin();
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  for (bool more = plan.ok(); more;) more = teacher.Advance().value().more;
  std::vector<double> learnt = teacher.report().losses;
  learnt.push_back(teacher.report().epochs.at(0).validation->loss);
  for (const WeightTensor& weight_tensor : (*trainee)->weight_tensors().tensors())
    learnt.insert(learnt.end(), weight_tensor.values, weight_tensor.values + weight_tensor.size);
  return learnt;
}

TEST(Threads, LearnTheSameToTheBit) {
  TeachOptions full, lora, head, disturbed;
  lora.method = Method::kLora;
  head.method = Method::kHead;
  disturbed.sift = 1;
  for (const char* config : kWide) {
    for (const TeachOptions& options : {full, lora, head, disturbed}) {
      const std::vector<double> alone = LearntBy(1, config, options);
      for (const int32_t threads : {2, 5}) {
        // EXPECT_EQ would print all values.
        EXPECT_TRUE(LearntBy(threads, config, options) == alone)
            << config << " by " << threads << " threads, method " << static_cast<int>(options.method);
      }
    }
  }
}

TEST(LayerNumber, IsReadFromTheNamesOfAllFamilies) {
  EXPECT_EQ(LayerNumber("encoder.layer.11.attention.self.query.weight"), 11);
  EXPECT_EQ(LayerNumber("encoder.layer.2.attention.self.key_conv_attn_layer.bias"), 2);
  EXPECT_EQ(LayerNumber("layers.3.attn.Wqkv.weight"), 3);          // ModernBERT
  EXPECT_EQ(LayerNumber("encoder.layers.10.mlp.fc1.weight"), 10);  // NomicBERT
  EXPECT_EQ(LayerNumber("embeddings.word_embeddings.weight"), std::nullopt);
  EXPECT_EQ(LayerNumber("encoder.layer.weight"), std::nullopt);
}

class LastLayer : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(LastLayer, ChangesAndNothingElse) {
  const auto [name, layer] = GetParam();
  const auto before = Load(CaseOf(name), Head::kSequenceClassification, {"a", "b"});
  const auto after = Load(CaseOf(name), Head::kSequenceClassification, {"a", "b"});
  TeachOptions options;
  options.method = Method::kLayers;
  options.layers = 1;
  Teach(*after, Goal::kSingleLabel, options, 8, 0);
  for (size_t i = 0; i < before->weight_tensors().tensors().size(); ++i) {
    const WeightTensor& old = before->weight_tensors().tensors()[i];
    const WeightTensor& now = after->weight_tensors().tensors()[i];
    const bool changes = !old.head.empty() || old.name.starts_with(layer);
    const bool same = std::equal(old.values, old.values + old.size, now.values);
    if (!changes) EXPECT_TRUE(same) << old.name;
    if (changes && now.name.ends_with("weight")) EXPECT_FALSE(same) << old.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Tiny, LastLayer,
                         ::testing::Values(std::pair("convbert-sequence", "encoder.layer.1."),
                                           std::pair("modernbert-sequence", "layers.3."),
                                           std::pair("nomic-bert-sequence", "encoder.layers.1.")),
                         [](const auto& info) {
                           std::string name = info.param.first;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Teacher, RefusesTheLastLayersIfAllShareTheirWeights) {
  const auto trainee = Load(CaseOf("albert-sequence"), Head::kSequenceClassification, {"a", "b"});
  TeachOptions options;
  options.method = Method::kLayers;
  options.layers = 1;
  Teacher teacher(*trainee, Goal::kSingleLabel, options);
  teacher.Add(Teacher::kTraining, TextOf(0));
  EXPECT_EQ(teacher.Begin().status().code(), StatusCode::kUnsupported);
}

// Training on cached features equals training with the layers below frozen.
TEST(Teacher, LearnsTheSameFromKeptFeatures) {
  TeachOptions options;
  options.method = Method::kLayers;
  options.layers = 1;
  options.dropout = options.attention_dropout = 0;
  const auto trainee = Load(CaseOf("bert-sequence"), Head::kSequenceClassification, {"a", "b"});
  const Lesson kept = Teach(*trainee, Goal::kSingleLabel, options, 16, 0);
  options.batch_tokens = 20;  // parts of different sizes
  const auto again = Load(CaseOf("bert-sequence"), Head::kSequenceClassification, {"a", "b"});
  const Lesson parts = Teach(*again, Goal::kSingleLabel, options, 16, 0);
  ASSERT_EQ(kept.report.losses.size(), parts.report.losses.size());
  for (size_t i = 0; i < kept.report.losses.size(); ++i) {
    EXPECT_NEAR(kept.report.losses[i], parts.report.losses[i], 1e-5);
  }
}

TEST(Teacher, RepeatsItself) {
  TeachOptions options;
  std::vector<double> losses[2];
  for (auto& own : losses) {
    const auto trainee = Load(CaseOf("deberta-v2-sequence"), Head::kSequenceClassification, {"a", "b"});
    own = Teach(*trainee, Goal::kSingleLabel, options, 20, 4).report.losses;
  }
  EXPECT_EQ(losses[0], losses[1]);
}

std::string Contents(Exporter& exporter, const std::string& name) {
  std::string contents;
  for (uint64_t at = 0;; at += 1000) {
    const auto part = exporter.Read(name, at, 1000).value();
    contents.append(reinterpret_cast<const char*>(part.data()), part.size());
    if (part.size() < 1000) return contents;
  }
}

// Trains briefly, saves and loads the model: inference must give the same logits.
void ExpectReadBack(const GoldenCase& golden, Method method) {
  const auto trainee = Load(golden, Head::kSequenceClassification, {"a", "b", "c", "d"});
  TeachOptions options;
  options.method = method;
  options.epochs = 2;
  options.adamw.learning_rate = 1e-2f;
  Teacher teacher(*trainee, Goal::kSingleLabel, options);
  for (uint32_t i = 0; i < 8; ++i) teacher.Add(Teacher::kTraining, TextOf(i));
  ASSERT_TRUE(teacher.Begin().ok());
  while (teacher.Advance()->more) continue;
  Exporter exporter(*trainee,
                    {golden.Config(), Head::kSequenceClassification, ProblemType::kSingleLabel, &teacher.options()});
  for (const Exporter::File& file : exporter.files()) {
    EXPECT_EQ(Contents(exporter, file.name).size(), file.bytes) << file.name;
  }
  const bool lora = method == Method::kLora;
  const auto backend = CreateReferenceBackend();
  auto loader =
      ModelLoader::Create(Contents(exporter, "config.json"), {.head = Head::kSequenceClassification}, *backend);
  ASSERT_TRUE(loader.ok()) << loader.status().message();
  std::string weights = lora ? golden.Weights() : Contents(exporter, "model.safetensors");
  if (lora) {
    auto adapter = std::make_unique<LoraAdapter>();
    ASSERT_TRUE(adapter->ReadConfig(Contents(exporter, "adapter_config.json")).ok());
    const std::string tensors = Contents(exporter, "adapter_model.safetensors");
    const Status fed = adapter->Feed(Bytes(tensors));
    ASSERT_TRUE(fed.ok()) << fed.message();
    ASSERT_TRUE(adapter->Finish().ok());
    ASSERT_TRUE((*loader)->SetAdapter(std::move(adapter)).ok());
  }
  const Status fed = (*loader)->Feed(Bytes(weights));
  ASSERT_TRUE(fed.ok()) << fed.message();
  const std::unique_ptr<Runner> model = CreateRunner((*loader)->Finish().value());
  EXPECT_EQ(model->config().id2label, (std::vector<std::string>{"a", "b", "c", "d"}));
  const Example text = TextOf(3);
  const std::vector<ModelInput> inputs = {{text.ids, text.types}};
  ASSERT_TRUE(model->Begin(inputs).ok() && model->Finish().ok());
  const Program program = trainee->ProgramFor(kLogits).value();
  Step step(program, trainee->packed()->parameters());
  RaggedBatch batch;
  batch.Append(static_cast<int32_t>(text.ids.size()));
  ASSERT_TRUE(step.Begin({inputs, batch, {}}, {.backward = false}).ok());
  step.Forward();
  const std::vector<float> logits = testing::ValuesOf(*model, kLogits);
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(step.output().row(0)[i], logits[i], 1e-4 * (1 + std::fabs(logits[i])));
}

TEST(Exporter, WritesWhatModelsRead) {
  for (const char* name : {"convbert-sequence", "deberta-v2-sequence", "bert-sequence", "convbert-groups2"}) {
    SCOPED_TRACE(name);
    ExpectReadBack(CaseOf(name), Method::kFull);
  }
}

TEST(Exporter, WritesAdaptersThatModelsMerge) {
  for (const char* name : {"convbert-sequence", "deberta-v2-sequence", "deberta-v1-sequence", "bert-sequence",
                           "modernbert-sequence", "nomic-bert-sequence"}) {
    SCOPED_TRACE(name);
    ExpectReadBack(CaseOf(name), Method::kLora);
  }
}

// The model learns, and the loss exceeds the plain loss by the divergence.
TEST(Sift, LearnsWhatIsEasy) {
  for (const char* name : {"convbert-sequence", "deberta-v2-sequence"}) {
    const auto trainee = Load(CaseOf(name), Head::kSequenceClassification, {"five", "seven"});
    TeachOptions options;
    options.sift = 4;
    options.epochs = 20;
    options.adamw.learning_rate = 5e-3f;
    const Lesson lesson = Teach(*trainee, Goal::kSingleLabel, options, 64, 32);
    ASSERT_FALSE(lesson.report.epochs.empty());
    EXPECT_GE(lesson.report.epochs[static_cast<size_t>(lesson.report.best_epoch) - 1].validation->accuracy, 0.97);
  }
}

TEST(Sift, GoesWithLabelsAndEmbeddingsOnly) {
  const auto trainee = Load(CaseOf("convbert-sequence"), Head::kSequenceClassification, {"a", "b"});
  TeachOptions options;
  options.sift = 4;
  options.method = Method::kHead;
  Teacher teacher(*trainee, Goal::kSingleLabel, options);
  teacher.Add(Teacher::kTraining, TextOf(0));
  EXPECT_EQ(teacher.Begin().status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace peruse::train

// Compares all backends on models of random shapes, families, options and texts. Each run draws a few, always the same; npm run
// test:kernels draws others, for a given time.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <set>

#include "core/backend/cpu/cpu_backend.h"
#include "core/backend/reference/reference_backend.h"
#include "core/base/half.h"
#include "core/families/family.h"
#include "tests/native/models/backends.h"
#include "tests/native/models/fixtures.h"
#include "tests/native/models/quantizing_errors.h"
#include "tests/native/random.h"
#include "tests/native/weights/safetensors_writer.h"

namespace peruse::testing {
namespace {

constexpr int kModels = 12;
constexpr int32_t kVocabulary = 40;
constexpr int32_t kPositions = 80;
constexpr int32_t kLongest = 70;

// Twice golden_test.cc's tolerance, because the shapes are up to four times as wide. A wrong term shows at 1e-2 or more.
constexpr double kTolerance = 2e-5;

int32_t DivisorOf(int32_t number, Random& random) {
  for (;;) {
    const int32_t divisor = random.Int(1, number);
    if (number % divisor == 0) return divisor;
  }
}

constexpr const char* kFamilies[] = {"bert",       "electra",    "roberta",    "distilbert",  "convbert",
                                     "deberta",    "deberta-v2", "lightconv",  "dynamicconv", "mpnet",
                                     "modernbert", "albert",     "nomic_bert", "gte",         "jina_bert"};
constexpr const char* kActivations[] = {"gelu",  "gelu_new", "gelu_fast", "gelu_10", "quick_gelu", "relu",
                                        "relu6", "silu",     "mish",      "tanh",    "sigmoid",    "linear"};

constexpr const char* kFeedForwards[] = {"geglu", "reglu", "original"};

// config.json. Not so narrow that a row may be nearly constant, which a layer norm would blow up.
// `deep`: so wide that q8 has 8 bits for most activations (kShallowDepth).
std::string DrawConfig(const std::string& family, Random& random, bool deep = false) {
  const int32_t heads = deep ? 4 : random.Int(1, 4);
  const bool halves = family == "convbert";
  const int32_t head_size = deep ? random.Int(49, 60) : random.Int((15 + heads) / heads, 33);
  const bool modern = family == "modernbert";
  const bool rotates = modern || family == "nomic_bert" || family == "gte";  // these need heads of even width
  const int32_t hidden = heads * head_size * (halves || rotates ? 2 : 1);
  const int32_t groups = halves && random.Chance(50) ? DivisorOf(hidden, random) : 1;
  const int32_t intermediate = groups * random.Int(1, 1 + 150 / groups);
  std::string json = R"({"model_type":")" + family + R"(","num_labels":)" + std::to_string(random.Int(1, 9));
  const auto text = [&json](const char* field, const std::string& value) {
    json += std::string(",\"") + field + "\":\"" + value + "\"";
  };
  const auto number = [&json](const char* field, int32_t value) {
    json += std::string(",\"") + field + "\":" + std::to_string(value);
  };
  const auto flag = [&json](const char* field, bool value) {
    json += std::string(",\"") + field + (value ? "\":true" : "\":false");
  };
  const bool distil = family == "distilbert";
  number("vocab_size", kVocabulary);
  number("max_position_embeddings", kPositions);
  number(distil ? "dim" : "hidden_size", hidden);
  const int32_t layers = random.Int(1, family == "albert" ? 3 : 2);
  number(distil ? "n_layers" : "num_hidden_layers", layers);
  number(distil ? "n_heads" : "num_attention_heads", halves ? 2 * heads : heads);
  number(distil ? "hidden_dim" : "intermediate_size", intermediate);
  text(distil ? "activation" : modern ? "hidden_activation" : "hidden_act", random.Pick(kActivations));
  number("type_vocab_size", random.Int(0, 2));
  json += random.Chance(50) ? ",\"layer_norm_eps\":1e-12" : ",\"layer_norm_eps\":1e-5";
  if (family == "electra" || family == "convbert" || family == "albert")
    number("embedding_size", random.Chance(50) ? hidden : random.Int(16, 70));
  if (family == "lightconv" || family == "dynamicconv") number("embedding_size", hidden);
  if (halves) number("num_groups", groups);
  if (halves || family == "lightconv" || family == "dynamicconv") number("conv_kernel_size", 2 * random.Int(0, 6) + 1);
  if (family == "bert" && random.Chance(40)) {
    text("position_embedding_type", random.Chance(50) ? "relative_key" : "relative_key_query");
  }
  if (family == "jina_bert") {
    const std::string type = random.Pick(kFeedForwards);
    text("feed_forward_type", type);
    if (type != "original" && random.Chance(40))
      json += R"(,"auto_map":{"AutoModel":"jina-bert-v2-qk-post-norm--modeling_bert.X"})";
  }
  if (rotates && !modern && random.Chance(50)) number("rope_theta", random.Int(10, 200000));
  if (family == "albert") number("num_hidden_groups", random.Int(1, layers));
  if (modern) {
    number("local_attention", random.Int(0, 90));
    number("global_attn_every_n_layers", random.Int(1, 3));
    number("global_rope_theta", random.Int(10, 200000));
    for (const char* field : {"norm_bias", "attention_bias", "mlp_bias", "classifier_bias", "decoder_bias"}) {
      flag(field, random.Chance(50));
    }
    text("classifier_pooling", random.Chance(50) ? "cls" : "mean");
  }
  if (!family.starts_with("deberta")) return json + "}";
  flag("relative_attention", random.Chance(85));
  constexpr const char* kPosAttTypes[] = {"c2p|p2c", "c2p", "p2c", ""};
  text("pos_att_type", random.Pick(kPosAttTypes));
  flag("position_biased_input", random.Chance(30));
  const int32_t furthest = random.Chance(50) ? random.Int(1, 90) : 0;
  if (furthest > 0) number("max_relative_positions", furthest);
  if (family == "deberta") return json + "}";
  if (random.Chance(60)) {
    const int32_t buckets = random.Int(2, 40);
    // The logarithm's scale is infinite there, and the family rejects it.
    const bool refused = buckets / 2 == furthest - 1;
    number("position_buckets", refused ? buckets + 2 : buckets);
  }
  if (random.Chance(50)) text("norm_rel_ebd", "layer_norm");
  flag("share_att_key", random.Chance(50));
  flag("peruse_position_tables", random.Chance(20));
  if (random.Chance(40)) {
    number("conv_kernel_size", 2 * random.Int(0, 3) + 1);
    number("conv_groups", DivisorOf(hidden, random));
    text("conv_act", random.Pick(kActivations));
  }
  return json + "}";
}

// Returns a checkpoint with random values for all tensors of the program. `half`: half precision can represent them.
std::string DrawWeights(const std::string& config_json, Head head, Random& random, bool half = false) {
  ConfiguredFamily configured = ReadFamily(config_json).value();
  const ModelConfig& config = configured.config;
  Program program;
  Parameters parameters;
  Build b(program, parameters, Precision::kF32);
  const Value hidden = configured.family->Encode(b, config);
  const HeadSizes sizes = {config.hidden_size, config.embedding_size, config.vocab_size, config.layer_norm_eps};
  if (head == Head::kTokenClassification) BuildHead(b, hidden, sizes, configured.family->TokenClassifier(config));
  if (head == Head::kMaskedLm) BuildHead(b, hidden, sizes, configured.family->MaskedLm(config));
  if (head == Head::kSequenceClassification) {
    PooledHead pooled = configured.family->SequenceClassifier(config);
    pooled.labels = config.num_labels();
    BuildHead(b, hidden, sizes, pooled);
  }
  SafetensorsWriter writer;
  std::set<std::string> written;
  for (const ParameterTensor& tensor : parameters.tensors) {
    if (!written.insert(tensor.names[0]).second) continue;
    int64_t count = 1;
    for (const int64_t size : tensor.shape) count *= size;
    // By the whole word: vocab_transform.weight ends in "orm.weight" too, and with values around 1 all its units would be alike.
    const bool is_norm =
        tensor.names[0].ends_with("Norm.weight") || tensor.names[0].ends_with("_norm.weight") ||
        (tensor.names[0].find("layer_norm_") != std::string::npos && tensor.names[0].ends_with(".weight")) ||
        tensor.names[0].ends_with("layernorm.weight") || tensor.names[0].ends_with(".norm.weight");
    const float scale = is_norm ? 0.2f : std::min(1.0f, 1.7f / std::sqrt(static_cast<float>(count / tensor.shape[0])));
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = scale * random.Float() + (is_norm ? 1.0f : 0.0f);
    if (half) {
      for (float& value : values) value = HalfToFloat(FloatToHalf(value));
    }
    writer.Add(tensor.names[0], tensor.shape, values);
  }
  return writer.File();
}

struct Text {
  std::vector<int32_t> ids;
  std::vector<int32_t> types;
};

std::vector<Text> DrawTexts(const ModelConfig& config, Random& random) {
  std::vector<Text> texts(static_cast<size_t>(random.Int(1, 4)));
  for (Text& text : texts) {
    const int32_t length = std::min(config.max_tokens, random.Chance(30) ? random.Int(1, 4) : random.Int(1, kLongest));
    for (int32_t i = 0; i < length; ++i) {
      text.ids.push_back(random.Int(0, kVocabulary - 1));
      text.types.push_back(random.Int(0, std::max(0, config.type_vocab_size - 1)));
    }
  }
  return texts;
}

using Outputs = std::vector<std::pair<std::string, std::vector<float>>>;

Outputs Compute(Runner& model, std::span<const Text> texts) {
  std::vector<ModelInput> inputs;
  for (const Text& text : texts) inputs.push_back({text.ids, text.types});
  const std::vector<OutputId> ids = model.Outputs();
  EXPECT_TRUE(model.Begin(inputs, {.outputs = ids}).ok());
  const Status status = model.Finish();
  EXPECT_TRUE(status.ok()) << status.message();
  Outputs outputs;
  for (const OutputId id : ids) {
    const std::span<const float> values = model.output(id).values;
    outputs.emplace_back(NameOf(id), std::vector<float>(values.begin(), values.end()));
  }
  return outputs;
}

void ExpectNear(const Outputs& actual, const Outputs& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t o = 0; o < expected.size(); ++o) {
    ASSERT_EQ(actual[o].second.size(), expected[o].second.size()) << expected[o].first;
    double worst = 0;
    for (size_t i = 0; i < expected[o].second.size(); ++i) {
      const double want = expected[o].second[i];
      const double error = std::abs(actual[o].second[i] - want) / std::max(1.0, std::abs(want));
      if (!(error <= worst)) worst = error;
    }
    EXPECT_LE(worst, kTolerance) << expected[o].first;
  }
}

void ExpectSame(const Outputs& actual, const Outputs& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t o = 0; o < expected.size(); ++o) {
    ASSERT_EQ(actual[o].second.size(), expected[o].second.size());
    EXPECT_EQ(std::memcmp(actual[o].second.data(), expected[o].second.data(), 4 * expected[o].second.size()), 0)
        << expected[o].first;
  }
}

class RandomModels : public ::testing::Test {
 protected:
  // With --gtest_shuffle each repetition has its own seed.
  void ForEach(const std::function<void(const std::string& config, Head head, Random& random)>& check,
               bool deep = false) {
    const auto seed = static_cast<uint32_t>(::testing::UnitTest::GetInstance()->random_seed());
    for (uint32_t i = 0; i < kModels && !HasFailure(); ++i) {
      Random random(seed * kModels + i);
      const std::string family = random.Pick(kFamilies);
      constexpr Head kHeads[] = {Head::kNone, Head::kTokenClassification, Head::kSequenceClassification,
                                 Head::kMaskedLm};
      const Head head = random.Pick(kHeads);
      const std::string config = DrawConfig(family, random, deep);
      SCOPED_TRACE(config + ", " + std::string(HeadName(head)) + ", seed " + std::to_string(seed * kModels + i));
      ASSERT_TRUE(ReadFamily(config).ok()) << ReadFamily(config).status().message();
      check(config, head, random);
    }
  }
};

TEST_F(RandomModels, EveryBackendComputesTheSame) {
  ForEach([](const std::string& config, Head head, Random& random) {
    const bool half = random.Chance(50);
    const std::string weights = DrawWeights(config, head, random, half);
    const ModelOptions options = {.head = head, .precision = half ? Precision::kF16 : Precision::kF32};
    const std::unique_ptr<Backend> reference = CreateReferenceBackend();
    auto right = LoadModel(config, weights, options, *reference, 10007);
    ASSERT_TRUE(right.ok()) << right.status().message();
    const std::vector<Text> texts = DrawTexts((*right)->config(), random);
    const Outputs expected = Compute(**right, texts);
    for (const BackendUnderTest& under_test : BackendsUnderTest()) {
      const std::unique_ptr<Backend> backend = under_test.create();
      auto model = LoadModel(config, weights, options, *backend, 997);
      ASSERT_TRUE(model.ok()) << under_test.name << ": " << model.status().message();
      SCOPED_TRACE(under_test.name);
      ExpectNear(Compute(**model, texts), expected);
    }
  });
}

TEST_F(RandomModels, DeepLayersAgreeInQ8) {
  constexpr double kMeanSquare = 0.25;
  const auto compute = [](const std::string& config, const std::string& weights, Head head, Backend& backend,
                          Precision precision, std::span<const Text> texts) {
    auto model = LoadModel(config, weights, {.head = head, .precision = precision}, backend, 10007);
    EXPECT_TRUE(model.ok()) << model.status().message();
    return model.ok() ? Compute(**model, texts) : Outputs();
  };
  const auto add = [](QuantizingErrors& errors, const Outputs& actual, const Outputs& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) errors.Add(actual[i].second, expected[i].second);
  };
  ForEach(
      [&](const std::string& config, Head head, Random& random) {
        const std::string weights = DrawWeights(config, head, random);
        const std::vector<Text> texts = DrawTexts(ReadFamily(config).value().config, random);
        const std::unique_ptr<Backend> reference = CreateReferenceBackend();
        const Outputs exact = compute(config, weights, head, *reference, Precision::kF32, texts);
        const Outputs expected = compute(config, weights, head, *reference, Precision::kQ8, texts);
        QuantizingErrors quantising;
        add(quantising, expected, exact);
        for (const BackendUnderTest& under_test : BackendsUnderTest()) {
          QuantizingErrors errors;
          add(errors, compute(config, weights, head, *under_test.create(), Precision::kQ8, texts), expected);
          EXPECT_LE(errors.squares, kMeanSquare * quantising.squares) << under_test.name;
          EXPECT_LE(errors.worst, quantising.worst) << under_test.name;
        }
      },
      /*deep=*/true);
}

// Results are bit-identical for any number of threads and any other texts in the batch.
TEST_F(RandomModels, ThreadsAndNeighboursChangeNoBit) {
  if (BackendsUnderTest().back().name != "cpu") return;  // the GPU's tests
  constexpr Precision kPrecisions[] = {Precision::kF32, Precision::kF16, Precision::kQ8};
  ForEach([&](const std::string& config, Head head, Random& random) {
    const std::string weights = DrawWeights(config, head, random);
    const ModelOptions options = {.head = head, .precision = random.Pick(kPrecisions)};
    const std::unique_ptr<Backend> one = CreateCpuBackend(1).value();
    auto right = LoadModel(config, weights, options, *one, 10007);
    ASSERT_TRUE(right.ok()) << right.status().message();
    const std::vector<Text> texts = DrawTexts((*right)->config(), random);
    const Outputs expected = Compute(**right, texts);
    for (int32_t threads = 2; threads <= 4; ++threads) {
      Result<std::unique_ptr<Backend>> several = CreateCpuBackend(threads);
      if (!several.ok()) break;  // the build does not have threads
      auto model = LoadModel(config, weights, options, **several, 10007);
      ASSERT_TRUE(model.ok()) << model.status().message();
      SCOPED_TRACE(std::to_string(threads) + " threads");
      ExpectSame(Compute(**model, texts), expected);
    }
    size_t rows = 0;
    for (const Text& text : texts) rows += text.ids.size();
    size_t first_row = 0;
    for (const Text& text : texts) {
      const Outputs alone = Compute(**right, {&text, 1});
      for (size_t i = 0; i < alone.size(); ++i) {
        if (!alone[i].first.starts_with("hidden.")) continue;
        const size_t width = expected[i].second.size() / rows;
        ASSERT_EQ(alone[i].second.size(), text.ids.size() * width);
        EXPECT_EQ(std::memcmp(alone[i].second.data(), expected[i].second.data() + first_row * width,
                              4 * alone[i].second.size()),
                  0)
            << alone[i].first;
      }
      first_row += text.ids.size();
    }
  });
}

}  // namespace
}  // namespace peruse::testing

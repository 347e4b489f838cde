// Checkpoints whose weights follow a formula, and results of transformers. Not for ConvBERT: transformers pads texts, and its convolutions
// let padding leak into real tokens.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/native/models/backends.h"
#include "tests/native/models/fixtures.h"
#include "tests/native/weights/safetensors_writer.h"

namespace peruse::testing {
namespace {

constexpr double kTolerance = 5e-6;  // the expected values have six decimals

constexpr int32_t kHidden = 32;
constexpr int32_t kWide = 64;

// A checkpoint filled by a formula. Encoder names get the prefix.
class Filled {
 public:
  explicit Filled(std::string prefix) : prefix_(std::move(prefix)) {}

  Filled& Head(const std::string& name, const std::vector<int64_t>& shape) {
    int64_t size = 1;
    for (const int64_t n : shape) size *= n;
    int32_t sum = 0;
    for (const char c : name) sum += static_cast<uint8_t>(c);
    std::vector<float> values;
    for (int64_t k = 0; k < size; ++k) {
      const double value = 0.1 * std::sin(0.5 * static_cast<double>(k % 1009) + sum % 1000);
      values.push_back(static_cast<float>(value + (name.ends_with("LayerNorm.weight") ? 1 : 0)));
    }
    writer_.Add(name, shape, values);
    return *this;
  }
  Filled& HeadLinear(const std::string& name, int64_t in, int64_t out) {
    return Head(name + ".weight", {out, in}).Head(name + ".bias", {out});
  }
  Filled& HeadNorm(const std::string& name, int64_t width) {
    return Head(name + ".weight", {width}).Head(name + ".bias", {width});
  }
  Filled& Tensor(const std::string& name, const std::vector<int64_t>& shape) { return Head(prefix_ + name, shape); }
  Filled& Linear(const std::string& name, int64_t in, int64_t out) { return HeadLinear(prefix_ + name, in, out); }
  Filled& Norm(const std::string& name, int64_t width) { return HeadNorm(prefix_ + name, width); }

  void LayerRest(const std::string& layer) {
    Linear(layer + "attention.output.dense", kHidden, kHidden).Norm(layer + "attention.output.LayerNorm", kHidden);
    Linear(layer + "intermediate.dense", kHidden, kWide).Linear(layer + "output.dense", kWide, kHidden);
    Norm(layer + "output.LayerNorm", kHidden);
  }

  std::string File() const { return writer_.File(); }

 private:
  std::string prefix_;
  SafetensorsWriter writer_;
};

std::string Layer(int i) { return "encoder.layer." + std::to_string(i) + "."; }

Filled Deberta(const std::string& prefix, bool v1, int64_t table_rows, bool conv) {
  Filled file(prefix);
  file.Tensor("embeddings.word_embeddings.weight", {40, kHidden}).Norm("embeddings.LayerNorm", kHidden);
  file.Tensor("embeddings.position_embeddings.weight", {32, kHidden});
  file.Tensor("encoder.rel_embeddings.weight", {table_rows, kHidden});
  if (!v1) file.Norm("encoder.LayerNorm", kHidden);
  if (conv) {
    file.Tensor("encoder.conv.conv.weight", {kHidden, kHidden, 3}).Tensor("encoder.conv.conv.bias", {kHidden});
    file.Norm("encoder.conv.LayerNorm", kHidden);
  }
  for (int i = 0; i < 2; ++i) {
    const std::string self = Layer(i) + "attention.self.";
    if (v1) {
      file.Tensor(self + "in_proj.weight", {3 * kHidden, kHidden});
      file.Tensor(self + "q_bias", {kHidden}).Tensor(self + "v_bias", {kHidden});
      file.Tensor(self + "pos_proj.weight", {kHidden, kHidden}).Linear(self + "pos_q_proj", kHidden, kHidden);
    } else {
      for (const char* part : {"query_proj", "key_proj", "value_proj"}) file.Linear(self + part, kHidden, kHidden);
    }
    file.LayerRest(Layer(i));
  }
  return file;
}

Filled Bert(const std::string& prefix, int64_t embedding) {
  Filled file(prefix);
  file.Tensor("embeddings.word_embeddings.weight", {40, embedding});
  file.Tensor("embeddings.position_embeddings.weight", {32, embedding});
  file.Tensor("embeddings.token_type_embeddings.weight", {2, embedding}).Norm("embeddings.LayerNorm", embedding);
  if (embedding != kHidden) file.Linear("embeddings_project", embedding, kHidden);
  for (int i = 0; i < 2; ++i) {
    for (const char* part : {"query", "key", "value"})
      file.Linear(Layer(i) + "attention.self." + part, kHidden, kHidden);
    file.LayerRest(Layer(i));
  }
  return file;
}

std::string Config(const std::string& type, const std::string& fields) {
  return R"({"model_type":")" + type +
         R"(","vocab_size":40,"hidden_size":32,"num_hidden_layers":2,"num_attention_heads":4,"intermediate_size":64,)"
         R"("max_position_embeddings":32,"num_labels":3)" +
         fields + "}";
}

std::string DebertaConfig(const std::string& type, const std::string& fields) {
  return Config(type, R"(,"type_vocab_size":0,"relative_attention":true,"position_biased_input":false,)"
                      R"("layer_norm_eps":1e-7)" +
                          fields);
}

const std::string kV1 = R"(,"pos_att_type":"c2p|p2c")";
const std::string kV2 =
    R"(,"pos_att_type":"p2c|c2p","position_buckets":8,"norm_rel_ebd":"layer_norm","share_att_key":true)";
const std::string kElectra = R"(,"embedding_size":16,"type_vocab_size":2)";

const std::vector<int32_t> kX = {2, 7, 11, 5, 3, 9, 14, 3};
const std::vector<int32_t> kXTypes = {0, 0, 0, 0, 0, 1, 1, 1};
const std::vector<int32_t> kY = {1, 4, 11, 18, 25, 32, 6, 13, 20, 27, 34, 8, 15, 22, 29, 36, 10, 17, 24, 2};

struct Row {
  int32_t row;
  std::vector<double> values;
};

class ConformanceTest : public ::testing::Test {
 protected:
  void Check(const std::string& config, const Filled& file, const ModelOptions& options, const ModelInput& input,
             const std::vector<Row>& expected) {
    for (const BackendUnderTest& under_test : BackendsUnderTest()) {
      const std::unique_ptr<Backend> backend = under_test.create();
      auto model = LoadModel(config, file.File(), options, *backend);
      ASSERT_TRUE(model.ok()) << model.status().message();
      ASSERT_TRUE((*model)->Begin({&input, 1}).ok());
      ASSERT_TRUE((*model)->Finish().ok());
      const bool bare = options.head == Head::kNone;
      const auto [values, rows, width] = (*model)->output(bare ? kLastHiddenState : kLogits);
      const auto cols = static_cast<size_t>(width);
      for (const Row& row : expected) {
        for (size_t c = 0; c < row.values.size(); ++c) {
          EXPECT_NEAR(values[static_cast<size_t>(row.row) * cols + c], row.values[c], kTolerance)
              << under_test.name << " row " << row.row << " column " << c;
        }
      }
    }
  }
};

TEST_F(ConformanceTest, DebertaV1) {
  Check(DebertaConfig("deberta", kV1), Deberta("", true, 64, false), {}, {kX, {}},
        {{0, {-1.032292, -1.031239, -0.993207, 0.022566, 0.245087, 1.499668}},
         {3, {-0.173133, -1.377611, -0.324067, -1.142707, -0.552923, -0.296786}},
         {7, {-0.514630, -1.769658, -0.420537, -0.906175, -0.044511, 0.238812}}});
  Check(DebertaConfig("deberta", kV1 + R"(,"max_relative_positions":4)"), Deberta("", true, 8, false), {}, {kX, {}},
        {{0, {-1.038195, -1.026341, -0.996965, 0.024284, 0.245148, 1.497862}},
         {3, {-0.127121, -1.396182, -0.286334, -1.155381, -0.534978, -0.300953}},
         {7, {-0.514342, -1.774707, -0.413129, -0.917967, -0.028924, 0.225628}}});
  Filled file = Deberta("deberta.", true, 64, false);
  file.HeadLinear("pooler.dense", kHidden, kHidden).HeadLinear("classifier", kHidden, 3);
  Check(DebertaConfig("deberta", kV1), file, {.head = Head::kSequenceClassification}, {kX, {}},
        {{0, {0.598029, -0.335230, 0.352032}}});
}

TEST_F(ConformanceTest, DebertaV2) {
  Check(DebertaConfig("deberta-v2", kV2), Deberta("", false, 16, false), {}, {kY, {}},
        {{0, {0.415046, -0.415723, -1.012544, -0.893158, -1.140414, -0.086626}},
         {9, {-0.451703, -1.015060, -0.764553, -1.046525, -0.847755, -0.258683}},
         {19, {-0.565166, -1.543745, -0.423430, -0.467347, 0.707837, 1.162860}}});
  Check(DebertaConfig("deberta-v2", kV2 + R"(,"conv_kernel_size":3,"conv_act":"gelu")"), Deberta("", false, 16, true),
        {}, {kX, {}},
        {{0, {-0.951596, -1.371721, -0.524424, -0.186015, 0.679744, 1.336538}},
         {3, {-0.160827, -0.858387, -0.676712, -0.953821, -1.022757, -0.214410}},
         {7, {-0.823065, -1.231080, -1.158109, -0.403048, -0.729052, 0.553460}}});
  Filled file = Deberta("deberta.", false, 16, false);
  file.HeadLinear("pooler.dense", kHidden, kHidden).HeadLinear("classifier", kHidden, 3);
  Check(DebertaConfig("deberta-v2", kV2), file, {.head = Head::kSequenceClassification}, {kY, {}},
        {{0, {0.855754, -0.734825, 0.859659}}});
}

TEST_F(ConformanceTest, DebertaPreTrainingHeads) {
  Filled file = Deberta("deberta.", false, 16, false);
  file.HeadLinear("lm_predictions.lm_head.dense", kHidden, kHidden);
  file.HeadNorm("lm_predictions.lm_head.LayerNorm", kHidden).Head("lm_predictions.lm_head.bias", {40});
  file.HeadLinear("mask_predictions.dense", kHidden, kHidden).HeadNorm("mask_predictions.LayerNorm", kHidden);
  file.HeadLinear("mask_predictions.classifier", kHidden, 1);
  const std::string config = DebertaConfig("deberta-v2", kV2);
  Check(config, file, {.head = Head::kMaskedLm}, {kY, {}},
        {{4, {0.324448, -0.313929, -0.044497, 0.202225, -0.367149, 0.655225}}});
  Check(config, file, {.head = Head::kMaskedLm, .enhanced_mask_decoder = true}, {kY, {}},
        {{4, {0.441870, -0.452846, 0.104151, 0.056433, -0.236560, 0.550897}}});
  Check(config, file, {.head = Head::kReplacedTokenDetection}, {kY, {}},
        {{0, {0.413142}}, {1, {-0.070410}}, {2, {0.149043}}, {3, {0.153454}}, {4, {-0.097957}}, {5, {-0.035950}}});
}

TEST_F(ConformanceTest, Bert) {
  Check(Config("bert", ""), Bert("", kHidden), {}, {kX, kXTypes},
        {{0, {-1.512176, -0.762885, -0.888308, 0.235835, 0.645863, 1.269990}},
         {3, {-1.167215, -0.462757, -1.143917, -0.701905, -0.902041, -0.404056}},
         {7, {-1.197064, -0.526676, -1.259750, -0.137577, 0.108713, 0.956006}}});
  Filled file = Bert("bert.", kHidden);
  file.Linear("pooler.dense", kHidden, kHidden).HeadLinear("classifier", kHidden, 3);
  Check(Config("bert", ""), file, {.head = Head::kSequenceClassification}, {kX, kXTypes},
        {{0, {0.022177, 0.096791, 0.100427}}});
}

TEST_F(ConformanceTest, Electra) {
  Check(Config("electra", kElectra), Bert("", 16), {}, {kX, kXTypes},
        {{0, {-1.511044, 1.053159, 0.514461, -0.847676, -0.159738, 1.371700}},
         {3, {-1.561232, 0.993444, 0.582207, -0.806051, -0.241777, 1.356890}},
         {7, {0.041200, -0.956060, -0.126571, 1.682080, 0.011376, -1.215418}}});

  Filled classifier = Bert("electra.", 16);
  classifier.HeadLinear("classifier.dense", kHidden, kHidden).HeadLinear("classifier.out_proj", kHidden, 3);
  Check(Config("electra", kElectra), classifier, {.head = Head::kSequenceClassification}, {kX, kXTypes},
        {{0, {-0.107061, -0.064967, -0.117090}}});

  Filled discriminator = Bert("electra.", 16);
  discriminator.HeadLinear("discriminator_predictions.dense", kHidden, kHidden);
  discriminator.HeadLinear("discriminator_predictions.dense_prediction", kHidden, 1);
  Check(Config("electra", kElectra), discriminator, {.head = Head::kReplacedTokenDetection}, {kX, kXTypes},
        {{0, {-0.104869}},
         {1, {-0.114621}},
         {2, {-0.120717}},
         {3, {-0.127115}},
         {4, {-0.121247}},
         {5, {-0.110551}},
         {6, {-0.124753}},
         {7, {-0.127657}}});

  Filled generator = Bert("electra.", 16);
  generator.HeadLinear("generator_predictions.dense", kHidden, 16).HeadNorm("generator_predictions.LayerNorm", 16);
  generator.Head("generator_lm_head.weight", {40, 16}).Head("generator_lm_head.bias", {40});
  Check(Config("electra", kElectra + R"(,"tie_word_embeddings":false)"), generator, {.head = Head::kMaskedLm},
        {kX, kXTypes}, {{0, {-0.144966, -0.110677, -0.017706, -0.025290, -0.027744, 0.081794}}});
}

}  // namespace
}  // namespace peruse::testing

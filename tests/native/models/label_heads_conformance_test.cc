// Models that read labels: checkpoints whose weights follow a formula, and results of the Python packages.
#include <gtest/gtest.h>

#include <cmath>

#include "core/families/family.h"
#include "tests/native/models/backends.h"
#include "tests/native/models/fixtures.h"
#include "tests/native/weights/safetensors_writer.h"

namespace peruse::testing {
namespace {

constexpr double kTolerance = 2e-5;  // relative

// Value k of a tensor is amplitude * sin(0.5 (k mod 1009) + sum of its name's bytes mod 1000), plus 1 for weights of a norm.
struct Filling {
  std::vector<std::string> encoders;  // parts of the names of tensors with amplitude 0.1
  double amplitude;                   // of all other tensors
  std::vector<std::string> norms;     // ends of names
};

float Value(const Filling& filling, const std::string& name, int64_t k) {
  int32_t sum = 0;
  for (const char c : name) sum += static_cast<uint8_t>(c);
  double amplitude = filling.amplitude;
  for (const std::string& part : filling.encoders) {
    if (name.find(part) != std::string::npos) amplitude = 0.1;
  }
  double value = amplitude * std::sin(0.5 * static_cast<double>(k % 1009) + sum % 1000);
  for (const std::string& end : filling.norms) {
    if (name.ends_with(end)) return static_cast<float>(value + 1);
  }
  return static_cast<float>(value);
}

std::string Filled(const std::string& config, Head head, const Filling& filling) {
  ConfiguredFamily family = ReadFamily(config).value();
  Program program;
  Parameters parameters;
  Build b(program, parameters, Precision::kF32);
  const peruse::Value hidden = family.family->Encode(b, family.config);
  if (head == Head::kEntities) {
    BuildHead(b, hidden, *family.family->Entities());
  } else {
    BuildHead(b, hidden, *family.family->LabelScores());
  }
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const ParameterTensor& tensor : parameters.tensors) {
    const std::string& name = tensor.names[0];
    const bool encoder = name.starts_with("embeddings.") || name.starts_with("encoder.");
    shapes[(encoder ? family.family->prefixes()[0] : "") + name] = tensor.shape;
  }
  SafetensorsWriter writer;
  for (const auto& [name, shape] : shapes) {
    int64_t size = 1;
    for (const int64_t n : shape) size *= n;
    std::vector<float> values;
    for (int64_t k = 0; k < size; ++k) values.push_back(Value(filling, name, k));
    writer.Add(name, shape, values);
  }
  return writer.File();
}

struct Case {
  std::string config;
  Head head;
  Filling filling;
  std::vector<std::vector<int32_t>> labels;  // encoded separately
  std::vector<int32_t> ids;
  HeadInputs inputs;
};

std::vector<float> Logits(const Case& c, const BackendUnderTest& under_test) {
  const std::unique_ptr<Backend> backend = under_test.create();
  const auto model = LoadModel(c.config, Filled(c.config, c.head, c.filling), {.head = c.head}, *backend);
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return {};
  Status status;
  HeadInputs inputs = c.inputs;
  std::vector<float> vectors;
  if (status.ok() && !c.labels.empty()) {
    std::vector<ModelInput> labels;
    for (const std::vector<int32_t>& ids : c.labels) labels.push_back({ids, {}});
    const std::vector<OutputId> wanted = {kLabelVectors};
    status = (*model)->Begin(labels, {.outputs = wanted});
    if (status.ok()) status = (*model)->Finish();
    if (status.ok()) {
      const std::span<const float> values = (*model)->output(kLabelVectors).values;
      vectors.assign(values.begin(), values.end());
    }
    inputs.label_vectors = vectors;
  }
  const ModelInput text = {c.ids, {}};
  if (status.ok()) status = (*model)->Begin(std::span(&text, 1), {.head_inputs = inputs});
  if (status.ok()) status = (*model)->Finish();
  EXPECT_TRUE(status.ok()) << under_test.name << ": " << status.message();
  if (!status.ok()) return {};
  const std::span<const float> values = (*model)->output(kLogits).values;
  return {values.begin(), values.end()};
}

void Expect(const Case& c, const std::vector<std::pair<size_t, double>>& expected, const std::string& what) {
  for (const BackendUnderTest& backend : BackendsUnderTest()) {
    const std::vector<float> logits = Logits(c, backend);
    for (const auto& [index, value] : expected) {
      ASSERT_LT(index, logits.size());
      EXPECT_NEAR(logits[index], value, kTolerance * std::max(std::fabs(value), 1.0)) << backend.name << " " << what;
    }
  }
}

const std::string kDeberta =
    R"({"model_type":"deberta-v2","vocab_size":40,"hidden_size":32,"num_hidden_layers":2,"num_attention_heads":4,)"
    R"("intermediate_size":64,"max_position_embeddings":32,"type_vocab_size":0,"relative_attention":true,)"
    R"("position_biased_input":false,"layer_norm_eps":1e-7,"pos_att_type":"p2c|c2p","position_buckets":8,)"
    R"("norm_rel_ebd":"layer_norm","share_att_key":true})";
const std::string kBert =
    R"({"model_type":"bert","vocab_size":30,"hidden_size":24,"num_hidden_layers":1,"num_attention_heads":2,)"
    R"("intermediate_size":48,"max_position_embeddings":16,"type_vocab_size":2})";

const Filling kGliner = {{"bert_layer.", "labels_encoder."}, 0.5, {"LayerNorm.weight", "_norm.weight"}};

std::string GlinerConfig(const std::string& mode, const std::string& fields) {
  return R"({"model_type":"gliner","hidden_size":16,"max_width":3,"vocab_size":40,"class_token_index":38,"span_mode":")" +
         mode + "\",\"encoder_config\":" + kDeberta + fields + "}";
}

const std::vector<int32_t> kFirst = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4};
const std::vector<int32_t> kLast = {0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 4};
// The expected pairs: (0, 0), (0, 2), (2, 1), (4, 0).
const size_t kTold[] = {0, 2, 7, 11};

const std::vector<int32_t> kWords = {7, 9, 10, 11, 12};
const std::vector<int32_t> kLabelRows = {1, 4};
const std::vector<int32_t> kIds = {1, 38, 7, 11, 38, 5, 39, 9, 14, 3, 20, 21, 22, 2};

TEST(LabelHeadsConformance, GlinerSpans) {
  const std::pair<const char*, std::vector<double>> cases[] = {
      {"markerV0", {86.96832, 86.92673, 89.37269, 89.32988, 72.33151, 72.29668, 95.61810, 95.57925}},
      {"marker", {9.94653, 9.94618, 10.28796, 10.28766, 10.37392, 10.37435, 10.14772, 10.14779}},
      {"markerV1", {23.86874, 23.83192, 24.19438, 24.15758, 22.45888, 22.42177, 24.43879, 24.40204}},
      {"query", {4.75427, 4.75705, 4.40480, 4.40746, 4.70225, 4.70494, 4.65053, 4.65328}},
      {"mlp", {5.48255, 5.48066, -6.75449, -6.75102, 3.26315, 3.26628, 6.21039, 6.20858}},
      {"cat", {8.29619, 8.33586, 31.58301, 31.60146, 27.55465, 27.57896, 8.48207, 8.52232}},
      {"conv_conv", {-3.03606, -3.02945, -4.81367, -4.80319, -2.75472, -2.74642, -3.32634, -3.31953}},
      {"conv_max", {-3.03606, -3.02945, -2.82628, -2.81981, -2.97787, -2.97133, -3.32634, -3.31953}},
      {"conv_mean", {-3.03606, -3.02945, -3.17888, -3.17219, -3.39788, -3.39114, -3.32634, -3.31953}},
      {"conv_sum", {-3.03606, -3.02945, -2.45453, -2.44821, -3.25470, -3.24811, -3.32634, -3.31953}},
      {"conv_share", {-2.72178, -2.71500, -1.17788, -1.17122, -3.01640, -3.00892, -2.71256, -2.70610}},
  };
  for (const auto& [mode, values] : cases) {
    const Case c = {GlinerConfig(mode, ""),
                    Head::kEntities,
                    kGliner,
                    {},
                    kIds,
                    {.words = kWords, .labels = kLabelRows, .pair_first = kFirst, .pair_second = kLast}};
    std::vector<std::pair<size_t, double>> expected;
    for (size_t i = 0; i < values.size(); ++i) expected.emplace_back(2 * kTold[i / 2] + i % 2, values[i]);
    Expect(c, expected, mode);
  }
}

TEST(LabelHeadsConformance, GlinerTokens) {
  std::vector<int32_t> words, labels;
  for (int32_t i = 0; i < 10; ++i) words.push_back(i / 2), labels.push_back(i % 2);
  const Case c = {GlinerConfig("token_level", ""),
                  Head::kEntities,
                  kGliner,
                  {},
                  kIds,
                  {.words = kWords, .labels = kLabelRows, .pair_first = words, .pair_second = labels}};
  Expect(c,
         {{0, -2.95884},
          {1, -1.62310},
          {2, 0.29324},
          {3, -2.95861},
          {4, -1.62358},
          {5, 0.29222},
          {21, -2.86476},
          {22, -1.56436},
          {23, 0.29717}},
         "token_level");
}

TEST(LabelHeadsConformance, GlinerBiEncoder) {
  const std::vector<int32_t> words = {1, 3, 4, 5, 7};
  const std::vector<int32_t> labels = {0, 0};
  const std::pair<const char*, std::vector<double>> cases[] = {
      {"", {335.0105, -773.3182, 288.3720, -817.7501, 250.9004, -859.9595, 241.4016, -1043.1997}},
      {"l2l-l2t-t2t", {36.34324, 11.59762, 35.90611, 11.11811, 34.52932, 9.56777, 35.27630, 10.38860}},
  };
  for (const auto& [schema, values] : cases) {
    const std::string fields = ",\"labels_encoder\":\"a/b\",\"labels_encoder_config\":" + kBert +
                               ",\"num_post_fusion_layers\":2,\"post_fusion_schema\":\"" + schema + "\"";
    const Case c = {GlinerConfig("markerV0", fields),
                    Head::kEntities,
                    kGliner,
                    {{2, 5, 6, 3}, {2, 7, 8, 9, 3}},
                    {1, 7, 11, 5, 9, 14, 3, 20, 21, 22, 2},
                    {.words = words, .labels = labels, .pair_first = kFirst, .pair_second = kLast}};
    std::vector<std::pair<size_t, double>> expected;
    for (size_t i = 0; i < values.size(); ++i) expected.emplace_back(2 * kTold[i / 2] + i % 2, values[i]);
    Expect(c, expected, schema);
  }
}

const Filling kGliClass = {{"encoder_model.", "label_encoder."}, 0.3, {"LayerNorm.weight", "norm.weight"}};

std::string GliClassConfig(const std::string& fields) {
  return R"({"model_type":"GLiClass","hidden_size":32,"vocab_size":40,"class_token_index":38,"text_token_index":39,)"
         R"("prompt_first":true,"encoder_config":)" +
         kDeberta + fields + "}";
}

TEST(LabelHeadsConformance, GliClass) {
  struct Variant {
    const char* fields;
    bool average;
    bool extract;
    std::vector<double> values;
  };
  const Variant variants[] = {
      {R"("scorer_type":"simple")", true, true, {129.24994, -36.13570, -123.56370}},
      {R"("scorer_type":"weighted-dot")", true, true, {-5.139612, -4.090289, -3.497523}},
      {R"("scorer_type":"mlp")", true, true, {-2.806969, -2.417805, -1.746402}},
      {R"("scorer_type":"hopfield")", true, true, {-3.264380, -3.090314, -2.928774}},
      {R"("scorer_type":"simple")", false, true, {-12.315844, -10.846192, -12.100913}},
      {R"("scorer_type":"simple")", false, false, {-469.06207, -470.33588, -470.07535}},
      {R"("scorer_type":"simple","normalize_features":true)", true, true, {-0.242326, 0.204559, 0.223811}},
      {R"("scorer_type":"cross-attn","pooling_strategy":"pass","scorer_num_heads":4,"scorer_mlp_hidden_size":64)",
       true,
       true,
       {27.642679, 28.581001, 29.345463}},
      {R"("scorer_type":"cross-attn","pooling_strategy":"pass","scorer_num_heads":4,"scorer_mlp_hidden_size":64)",
       false,
       false,
       {31.535806, 31.540560, 31.537285}},
  };
  const std::vector<int32_t> ids = {1, 38, 7, 11, 38, 5, 38, 9, 3, 39, 14, 3, 20, 21, 22, 2};
  const std::vector<int32_t> labels = {1, 4, 6}, label_tokens = {3, 2, 3}, zeros = {0, 0, 0}, numbers = {0, 1, 2};
  const std::vector<int32_t> one_word = {9}, all_words = {9, 10, 11, 12, 13, 14, 15}, ones(7, 1), first = {0};
  for (const Variant& variant : variants) {
    const std::string fields = "," + std::string(variant.fields) + ",\"class_token_pooling\":\"" +
                               (variant.average ? "average" : "first") +
                               "\",\"extract_text_features\":" + (variant.extract ? "true" : "false");
    const bool pass = fields.find("pass") != std::string::npos;
    const std::vector<int32_t>& words = !variant.extract ? first : pass ? all_words : one_word;
    const Case c = {GliClassConfig(fields),
                    Head::kSequenceClassification,
                    kGliClass,
                    {},
                    ids,
                    {.words = words,
                     .word_tokens = std::span(ones).first(words.size()),
                     .labels = labels,
                     .label_tokens = label_tokens,
                     .pair_first = zeros,
                     .pair_second = numbers}};
    Expect(c, {{0, variant.values[0]}, {1, variant.values[1]}, {2, variant.values[2]}}, fields);
  }
}

TEST(LabelHeadsConformance, GliClassBiEncoder) {
  struct Variant {
    const char* architecture;
    bool normalize;
    std::vector<double> values;
  };
  const Variant variants[] = {
      {"bi-encoder", false, {37.772522, -13.193241}},
      {"bi-encoder", true, {0.249073, -0.134865}},
      {"bi-encoder-fused", false, {28.925516, -13.522946}},
      {"bi-encoder-fused", true, {1.390778, -0.650201}},
  };
  const std::vector<int32_t> words = {0}, rows = {1, 2}, zeros = {0, 0}, numbers = {0, 1};
  for (const Variant& variant : variants) {
    const std::string fields = ",\"scorer_type\":\"simple\",\"label_model_config\":" + kBert +
                               ",\"architecture_type\":\"" + variant.architecture +
                               "\",\"normalize_features\":" + (variant.normalize ? "true" : "false");
    const bool fused = fields.find("fused") != std::string::npos;
    const Case c = {
        GliClassConfig(fields),
        Head::kSequenceClassification,
        kGliClass,
        {{2, 5, 6, 3}, {2, 7, 8, 9, 3}},
        fused ? std::vector<int32_t>{1, 38, 38, 39, 7, 11, 5, 9, 2} : std::vector<int32_t>{1, 7, 11, 5, 9, 2},
        {.words = words, .labels = fused ? rows : zeros, .pair_first = zeros, .pair_second = numbers}};
    Expect(c, {{0, variant.values[0]}, {1, variant.values[1]}}, fields);
  }
}

}  // namespace
}  // namespace peruse::testing

#include "core/models/config.h"

#include <gtest/gtest.h>

namespace peruse {
namespace {

ModelConfig Parse(const std::string& json) {
  Result<ModelConfig> config = ParseModelConfig(json);
  EXPECT_TRUE(config.ok()) << json << ": " << config.status().message();
  return config.ok() ? std::move(*config) : ModelConfig();
}

void ExpectError(const std::string& json, StatusCode code, const std::string& part) {
  const Result<ModelConfig> config = ParseModelConfig(json);
  ASSERT_FALSE(config.ok()) << json;
  EXPECT_EQ(StatusCodeName(config.status().code()), StatusCodeName(code)) << config.status().message();
  EXPECT_NE(config.status().message().find(part), std::string::npos) << config.status().message();
}

std::string Of(const std::string& type, const std::string& fields) {
  return R"({"model_type":")" + type + "\"" + (fields.empty() ? "" : "," + fields) + "}";
}

TEST(ConfigTest, DefaultsOfEachFamily) {
  const ModelConfig convbert = Parse(Of("convbert", ""));
  EXPECT_EQ(convbert.vocab_size, 30522);
  EXPECT_EQ(convbert.embedding_size, 768);
  EXPECT_EQ(convbert.convbert.heads, 6);
  EXPECT_EQ(convbert.convbert.head_dim, 64);
  EXPECT_EQ(convbert.convbert.conv_kernel_size, 9);
  EXPECT_EQ(convbert.type_vocab_size, 2);
  EXPECT_EQ(convbert.max_tokens, 512);
  EXPECT_FLOAT_EQ(convbert.layer_norm_eps, 1e-12f);
  EXPECT_EQ(convbert.id2label, (std::vector<std::string>{"LABEL_0", "LABEL_1"}));

  const ModelConfig v1 = Parse(Of("deberta", ""));
  EXPECT_EQ(v1.vocab_size, 50265);
  EXPECT_EQ(v1.type_vocab_size, 0);
  EXPECT_FALSE(v1.deberta.relative_attention);
  EXPECT_TRUE(v1.deberta.position_biased_input);
  EXPECT_EQ(v1.deberta.max_relative_positions, 512);

  const ModelConfig v2 = Parse(Of("deberta-v2", ""));
  EXPECT_EQ(v2.hidden_size, 1536);
  EXPECT_EQ(v2.num_hidden_layers, 24);
  EXPECT_EQ(v2.deberta.head_dim, 64);
  EXPECT_EQ(v2.deberta.conv_kernel_size, 0);
  EXPECT_FLOAT_EQ(v2.layer_norm_eps, 1e-7f);

  const ModelConfig electra = Parse(Of("electra", ""));
  EXPECT_EQ(electra.hidden_size, 256);
  EXPECT_EQ(electra.embedding_size, 128);
  EXPECT_TRUE(electra.summary.use_proj);
  EXPECT_EQ(electra.summary.activation, Activation::kGelu);
  EXPECT_EQ(Parse(Of("electra", R"("summary_activation":null)")).summary.activation, Activation::kNone);

  EXPECT_EQ(Parse(Of("bert", R"("hidden_size":36)")).embedding_size, 36);
  EXPECT_EQ(Parse(Of("conv_bert", "")).architecture, Architecture::kConvBert);
}

TEST(ConfigTest, ConvBertHeadReduction) {
  const auto heads = [](const std::string& fields) {
    const ModelConfig config = Parse(Of("convbert", fields));
    return std::pair(config.convbert.heads, config.convbert.head_dim);
  };
  EXPECT_EQ(heads(R"("hidden_size":384,"num_attention_heads":8)"), std::pair(4, 48));
  EXPECT_EQ(heads(R"("hidden_size":32,"num_attention_heads":4,"head_ratio":4)"), std::pair(1, 16));
  EXPECT_EQ(heads(R"("hidden_size":32,"num_attention_heads":4,"head_ratio":8)"), std::pair(1, 16));
  ExpectError(Of("convbert", R"("conv_kernel_size":4)"), StatusCode::kMalformedFile,
              "conv_kernel_size is 4, must be odd");
  ExpectError(Of("convbert", R"("num_groups":5)"), StatusCode::kMalformedFile, "num_groups");
  ExpectError(Of("convbert", R"("hidden_size":30,"num_attention_heads":8)"), StatusCode::kMalformedFile,
              "hidden_size 30");
}

TEST(ConfigTest, ConvolutionWidthsByLayer) {
  EXPECT_EQ(Parse(Of("lightconv", R"("num_hidden_layers":2,"conv_kernel_size":5)")).lightconv.conv_kernel_sizes,
            (std::vector<int32_t>{5, 5}));
  EXPECT_EQ(Parse(Of("dynamicconv", R"("num_hidden_layers":2,"conv_kernel_size":[3,31])")).lightconv.conv_kernel_sizes,
            (std::vector<int32_t>{3, 31}));
  for (const char* sizes : {"4", "[3]", "[3,5,7]", "[3,4]", "[3,\"5\"]", "[3,-1]", "[3,99999999999]", "{}"}) {
    ExpectError(Of("lightconv", R"("num_hidden_layers":2,"conv_kernel_size":)" + std::string(sizes)),
                StatusCode::kMalformedFile, "conv_kernel_size");
  }
}

TEST(ConfigTest, PosAttTypeInEverySpelling) {
  const auto terms = [](const std::string& value) {
    const DebertaConfig deberta = Parse(Of("deberta", "\"pos_att_type\":" + value)).deberta;
    return std::tuple(deberta.content_to_position, deberta.position_to_content, deberta.pos_att_types);
  };
  EXPECT_EQ(terms(R"("c2p|p2c")"), std::tuple(true, true, 2));
  EXPECT_EQ(terms(R"(" P2C | c2p ")"), std::tuple(true, true, 2));
  EXPECT_EQ(terms(R"(["c2p"])"), std::tuple(true, false, 1));
  EXPECT_EQ(terms(R"("none")"), std::tuple(false, false, 1));
  EXPECT_EQ(terms("null"), std::tuple(false, false, 0));
  ExpectError(Of("deberta", R"("pos_att_type":3)"), StatusCode::kMalformedFile, "pos_att_type");
  ExpectError(Of("deberta", R"("pos_att_type":[3])"), StatusCode::kMalformedFile, "pos_att_type");
  EXPECT_TRUE(Parse(Of("deberta-v2", R"("norm_rel_ebd":"None | Layer_Norm")")).deberta.norm_rel_ebd);
}

TEST(ConfigTest, LengthIsBoundedOnlyWherePositionsAre) {
  const std::string relative = R"("relative_attention":true,"position_biased_input":false,"position_buckets":256)";
  EXPECT_EQ(Parse(Of("deberta-v2", relative)).max_tokens, ModelConfig::kUnlimited);
  EXPECT_EQ(Parse(Of("deberta-v2", R"("relative_attention":true)")).max_tokens, 512);
  // More buckets than distances: transformers' formula works only up to half the buckets.
  EXPECT_EQ(Parse(Of("deberta-v2", relative + R"(,"max_position_embeddings":100)")).max_tokens, 129);
}

TEST(ConfigTest, Labels) {
  const ModelConfig config = Parse(Of("bert", R"("num_labels":9,"id2label":{"1":"pos","0":"neg"})"));
  EXPECT_EQ(config.id2label, (std::vector<std::string>{"neg", "pos"}));
  EXPECT_EQ(Parse(Of("bert", R"("num_labels":3)")).num_labels(), 3);
  EXPECT_EQ(Parse(Of("bert", R"("problem_type":"multi_label_classification")")).problem_type, ProblemType::kMultiLabel);
  for (const char* labels :
       {R"({"0":"a","2":"b"})", R"({"0":"a","0":"b"})", R"({"x":"a"})", R"({"0":1})", R"(["a"])"}) {
    ExpectError(Of("bert", "\"id2label\":" + std::string(labels)), StatusCode::kMalformedFile, "id2label");
  }
  ExpectError(Of("bert", R"("problem_type":"poetry")"), StatusCode::kMalformedFile, "problem_type");
}

TEST(ConfigTest, WhatIsNotSupportedIsNamed) {
  ExpectError(Of("gpt2", ""), StatusCode::kUnsupported, "\"gpt2\"");
  ExpectError("{}", StatusCode::kMalformedFile, "no model_type");
  ExpectError(Of("bert", R"("hidden_act":"swiglu")"), StatusCode::kUnsupported, "\"swiglu\"");
  ExpectError(Of("bert", R"("position_embedding_type":"rotary")"), StatusCode::kUnsupported, "\"rotary\"");
  ExpectError(Of("deberta", R"("talking_head":true)"), StatusCode::kUnsupported, "talking_head");
}

TEST(ConfigTest, NumbersOutOfRangeAreRefused) {
  for (const char* field : {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads",
                            "intermediate_size", "max_position_embeddings"}) {
    for (const char* value : {"0", "-1", "1.5", "\"8\"", "99999999999", "1e99", "[1]", "true"}) {
      ExpectError(Of("bert", "\"" + std::string(field) + "\":" + value), StatusCode::kMalformedFile, field);
    }
  }
  ExpectError(Of("bert", R"("layer_norm_eps":-1)"), StatusCode::kMalformedFile, "layer_norm_eps");
  ExpectError(Of("bert", R"("num_attention_heads":7)"), StatusCode::kMalformedFile, "num_attention_heads");
  ExpectError(Of("deberta-v2", R"("attention_head_size":65)"), StatusCode::kMalformedFile, "size 65");
  ExpectError(Of("deberta-v2", R"("conv_kernel_size":2)"), StatusCode::kMalformedFile, "conv_kernel_size");
  ExpectError(Of("deberta-v2", R"("conv_kernel_size":3,"conv_groups":7)"), StatusCode::kMalformedFile, "conv_groups");
}

TEST(ConfigTest, BadJson) {
  ExpectError("", StatusCode::kMalformedFile, "config.json");
  ExpectError("[]", StatusCode::kMalformedFile, "config.json");
  ExpectError(R"({"model_type":)", StatusCode::kMalformedFile, "config.json");
  ExpectError(R"({"model_type":3})", StatusCode::kMalformedFile, "model_type");
  ExpectError(std::string(100000, '['), StatusCode::kMalformedFile, "config.json");
}

}  // namespace
}  // namespace peruse

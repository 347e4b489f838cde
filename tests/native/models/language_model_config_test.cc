// Configurations of encoders with the layers of language models: Qwen3, Gemma 3, EuroBERT, and OpenAI's privacy filter.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/native/models/config_parsing.h"

namespace peruse::testing {
namespace {

TEST(LanguageModelConfigTest, LanguageModelsDefaultsAreThoseOfTransformers) {
  const ModelConfig euro = Parse(Of("eurobert", ""));
  EXPECT_EQ(euro.hidden_size, 768);
  EXPECT_EQ(euro.vocab_size, 128256);
  EXPECT_FALSE(euro.tie_word_embeddings);
  EXPECT_EQ(euro.hidden_act, Activation::kSilu);
  EXPECT_EQ(euro.max_tokens, ModelConfig::kUnlimited);
  EXPECT_EQ(Parse(Of("qwen3", "")).intermediate_size, 22016);
  EXPECT_EQ(Parse(Of("gemma3_text", "")).hidden_act, Activation::kGeluTanh);
  // transformers does not read this name for a Gemma 3.
  EXPECT_EQ(Parse(Of("gemma3_text", R"("hidden_act":"gelu")")).hidden_act, Activation::kGeluTanh);
}

TEST(LanguageModelConfigTest, LanguageModelsOptionsThatPeruseLacksAreRefused) {
  for (const auto& [type, fields, what] : {
           std::tuple{"eurobert", R"("classifier_pooling":"max")", "classifier_pooling"},
           {"eurobert", R"("rope_scaling":{"type":"longrope","factor":8})", "rope_type"},
           {"eurobert", R"("rope_parameters":{"rope_type":"default","partial_rotary_factor":0.5})",
            "partial_rotary_factor"},
           {"qwen3", R"("layer_types":["full_attention","chunked"],"num_hidden_layers":2)", "layer_types"},
           {"gemma3_text", R"("attn_logit_softcapping":50)", "attn_logit_softcapping"},
       }) {
    ExpectError(Of(type, fields), StatusCode::kUnsupported, what);
  }
  for (const auto& [type, fields, what] : {
           std::tuple{"eurobert", R"("num_attention_heads":5)", "num_attention_heads"},
           {"eurobert", R"("num_key_value_heads":5)", "num_key_value_heads"},
           {"eurobert", R"("head_dim":7)", "head_dim"},
           {"qwen3", R"("layer_types":["full_attention"])", "layer_types"},
           {"qwen3", R"("rope_parameters":{"rope_type":"yarn","factor":4,"beta_fast":1,"beta_slow":32})", "beta_fast"},
           {"qwen3", R"("rope_parameters":{"rope_type":"llama3","low_freq_factor":4,"high_freq_factor":4})",
            "high_freq_factor"},
           {"gemma3_text", R"("use_bidirectional_attention":true,"sliding_window":null)", "sliding_window"},
       }) {
    ExpectError(Of(type, fields), StatusCode::kMalformedFile, what);
  }
}

TEST(LanguageModelConfigTest, GemmaReadsThePatternOfItsLayersByOneNameOnly) {
  const auto full = [](const std::string& fields) {
    std::vector<size_t> found;
    const std::vector<ops::Attention> layers =
        All<ops::Attention>(EncoderOf(Of("gemma3_text", R"("num_hidden_layers":6,)" + fields)));
    for (size_t i = 0; i < layers.size(); ++i) {
      if (layers[i].before == ops::Attention::kAllKeys) found.push_back(i);
    }
    return found;
  };
  const std::string both_sides = R"("use_bidirectional_attention":true,)";
  EXPECT_EQ(full(both_sides + R"("sliding_window_pattern":2)"), (std::vector<size_t>{1, 3, 5}));
  // transformers writes this name together with layer_types, and reads only those.
  EXPECT_EQ(full(both_sides + R"("_sliding_window_pattern":2)"), (std::vector<size_t>{5}));
}

TEST(LanguageModelConfigTest, PrivacyFilters) {
  const std::string usual =
      R"("id2label":{"0":"O","1":"S-a"},"rope_parameters":{"rope_type":"yarn","factor":32,"truncate":false,)"
      R"("original_max_position_embeddings":4096})";
  const auto with = [&](const std::string& fields) { return Of("openai_privacy_filter", usual + fields); };
  EXPECT_EQ(Parse(with("")).num_labels(), 2);
  const ops::RotaryAngles angles = All<ops::RotaryAngles>(EncoderOf(with(""))).at(0);
  EXPECT_NEAR(angles.scaling.amplitude, 1.34657, 1e-5);
  EXPECT_EQ(angles.theta, 150000);
  const std::string numbers =
      R"("transition_bias_background_stay":1,"transition_bias_background_to_start":2,"transition_bias_inside_to_continue":3,)"
      R"("transition_bias_inside_to_end":4,"transition_bias_end_to_background":5)";
  const auto calibration = [](const std::string& biases) {
    return R"(,"viterbi_calibration":{"operating_points":{"default":{"biases":{)" + biases + "}}}}";
  };
  const ModelConfig biased = Parse(with(calibration(numbers + R"(,"transition_bias_end_to_start":-6)")));
  EXPECT_EQ(biased.path_biases->inside_to_end, 4);
  EXPECT_EQ(biased.path_biases->end_to_start, -6);
  for (const std::string& biases :
       {numbers, numbers + R"(,"x":1)", numbers + R"(,"transition_bias_end_to_start":1,"x":1)"}) {
    ExpectError(with(calibration(biases)), StatusCode::kMalformedFile, "viterbi_calibration");
  }
  ExpectError(with(calibration(numbers + R"(,"transition_bias_end_to_start":"1")")), StatusCode::kMalformedFile,
              "transition_bias_end_to_start");
  for (const auto& [fields, what] : {
           std::pair{R"(,"attention_bias":false)", "attention_bias"},
           {R"(,"hidden_size":650)", "hidden_size"},
           {R"(,"intermediate_size":650)", "intermediate_size"},
       }) {
    ExpectError(with(fields), StatusCode::kUnsupported, what);
  }
  ExpectError(with(R"(,"num_experts_per_tok":9,"num_local_experts":8)"), StatusCode::kMalformedFile,
              "num_experts_per_tok");
  ExpectError(Of("openai_privacy_filter", ""), StatusCode::kUnsupported, "rope_parameters");
}

}  // namespace
}  // namespace peruse::testing

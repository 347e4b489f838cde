#include "core/model/token_rows.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/native/weights/tensor_recorder.h"

namespace peruse::testing {
namespace {

TensorInfo Tensor(std::string name, std::vector<int64_t> shape) {
  return {.name = std::move(name), .dtype_name = "F32", .dtype = DType::kF32, .shape = std::move(shape)};
}

// All sizes equal that of the vocabulary, so shapes alone do not distinguish the tensors.
std::string Config(const std::string& model_type, const std::string& more = "") {
  return R"({"model_type": ")" + model_type + R"(", "vocab_size": 8, "hidden_size": 8, "num_hidden_layers": 1,
    "num_attention_heads": 2, "intermediate_size": 8, "max_position_embeddings": 8)" +
         more + "}";
}

std::vector<std::string> Marked(const std::string& config, const std::vector<TensorInfo>& tensors) {
  const auto rows = HaveTokenRows(config, tensors);
  EXPECT_TRUE(rows.ok()) << rows.status().message();
  std::vector<std::string> names;
  for (size_t i = 0; rows.ok() && i < tensors.size(); ++i) {
    if ((*rows)[i]) names.push_back(tensors[i].name);
  }
  return names;
}

TEST(TokenRowsTest, FollowTheVocabularyOfThePrograms) {
  EXPECT_EQ(Marked(Config("bert"),
                   {Tensor("bert.embeddings.word_embeddings.weight", {8, 8}),
                    Tensor("bert.embeddings.position_embeddings.weight", {8, 8}),
                    Tensor("bert.encoder.layer.0.intermediate.dense.weight", {8, 8}),
                    Tensor("bert.pooler.dense.weight", {8, 8}), Tensor("cls.predictions.decoder.weight", {8, 8}),
                    Tensor("cls.predictions.bias", {8}), Tensor("classifier.weight", {2, 8})}),
            (std::vector<std::string>{"bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight",
                                      "cls.predictions.bias"}));
}

TEST(TokenRowsTest, KnowTheLanguageModelHeadsOfOtherFamilies) {
  EXPECT_EQ(
      Marked(Config("distilbert", R"(, "dim": 8, "n_layers": 1, "n_heads": 2, "hidden_dim": 8)"),
             {Tensor("distilbert.embeddings.word_embeddings.weight", {8, 8}), Tensor("vocab_transform.weight", {8, 8}),
              Tensor("vocab_projector.weight", {8, 8}), Tensor("vocab_projector.bias", {8})}),
      (std::vector<std::string>{"distilbert.embeddings.word_embeddings.weight", "vocab_projector.weight",
                                "vocab_projector.bias"}));
  EXPECT_EQ(Marked(Config("electra", R"(, "embedding_size": 8)"),
                   {Tensor("electra.embeddings.word_embeddings.weight", {8, 8}),
                    Tensor("generator_predictions.dense.weight", {8, 8}), Tensor("generator_lm_head.weight", {8, 8}),
                    Tensor("generator_lm_head.bias", {8})}),
            (std::vector<std::string>{"electra.embeddings.word_embeddings.weight", "generator_lm_head.weight",
                                      "generator_lm_head.bias"}));
}

TEST(TokenRowsTest, ScalesFollowTheirRows) {
  EXPECT_EQ(Marked(Config("bert", R"(, "quantization_config": {"quant_method": "peruse-q8"})"),
                   {Tensor("bert.embeddings.word_embeddings.weight", {8, 8}),
                    Tensor("bert.embeddings.word_embeddings.weight_scale", {8}),
                    Tensor("bert.encoder.layer.0.output.dense.weight_scale", {8})}),
            (std::vector<std::string>{"bert.embeddings.word_embeddings.weight",
                                      "bert.embeddings.word_embeddings.weight_scale"}));
}

TEST(TokenRowsTest, RefuseRowsThatNoProgramReads) {
  const std::vector<TensorInfo> other = {Tensor("mystery.weight", {8, 2})};
  ExpectError(HaveTokenRows(Config("bert"), other).status(), StatusCode::kUnsupported, "mystery.weight");
  EXPECT_EQ(Marked(Config("bert"), {Tensor("mystery.weight", {7, 2})}), std::vector<std::string>{});
}

}  // namespace
}  // namespace peruse::testing

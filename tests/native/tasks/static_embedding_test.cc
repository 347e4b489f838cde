// Static embeddings: a text's vector is the mean of its tokens' rows, in every precision that a table has.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "core/backend/cpu/cpu_backend.h"
#include "tests/native/tasks/session_testing.h"

namespace peruse {
namespace {

constexpr int kTokens = 48;
constexpr int kWidth = 4;

constexpr char kConfig[] =
    R"({"model_type": "static", "vocab_size": 48, "hidden_size": 4, "max_position_embeddings": 1048576, "seq_length": 3})";
constexpr char kModules[] = R"([{"path": "", "type": "sentence_transformers.models.Transformer"},
                                {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])";
constexpr char kPooling[] = R"({"word_embedding_dimension": 4, "pooling_mode_mean_tokens": true})";
constexpr char kSentence[] = R"({"max_seq_length": 3})";

std::string Tokenizer() {
  std::string vocab;
  for (int i = 0; i < kTokens; ++i)
    vocab += (i == 0 ? "\"" : ", \"") + ("t" + std::to_string(i)) + "\": " + std::to_string(i);
  return R"({"version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
             "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": null, "decoder": null,
             "model": {"type": "WordPiece", "unk_token": "t0", "continuing_subword_prefix": "##",
                       "max_input_chars_per_word": 100, "vocab": {)" +
         vocab + "}}}";
}

// Row t is [t, t + 0.25, -t, 1].
std::string Weights() {
  std::string header = R"({"embeddings.word_embeddings.weight":{"dtype":"F32","shape":[48,4],"data_offsets":[0,768]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const auto length = static_cast<uint64_t>(header.size());
  std::vector<float> rows;
  for (int t = 0; t < kTokens; ++t) {
    const auto value = static_cast<float>(t);
    rows.insert(rows.end(), {value, value + 0.25f, -value, 1.0f});
  }
  std::string file(8 + header.size() + rows.size() * sizeof(float), '\0');
  std::memcpy(file.data(), &length, 8);
  std::memcpy(file.data() + 8, header.data(), header.size());
  std::memcpy(file.data() + 8 + header.size(), rows.data(), rows.size() * sizeof(float));
  return file;
}

// Opens the folder and feeds the weights.
std::unique_ptr<Session> Loaded(const char* dtype) {
  auto backend = CreateCpuBackend(1);
  EXPECT_TRUE(backend.ok());
  auto session = std::make_unique<Session>(std::move(*backend));
  const std::vector<std::pair<std::string, std::string>> files = {{"config.json", kConfig},
                                                                  {"tokenizer.json", Tokenizer()},
                                                                  {"modules.json", kModules},
                                                                  {"sentence_bert_config.json", kSentence},
                                                                  {"1_Pooling/config.json", kPooling}};
  for (const auto& [name, content] : files) EXPECT_TRUE(session->AddFile(name, content).ok()) << name;
  const Status opened = session->Open(R"({"task": "feature-extraction", "dtype": ")" + std::string(dtype) + "\"}");
  EXPECT_TRUE(opened.ok()) << opened.message();
  EXPECT_FALSE(session->header_read());
  const std::string weights = Weights();
  const Status fed = session->FeedWeights({reinterpret_cast<const uint8_t*>(weights.data()), weights.size()});
  EXPECT_TRUE(fed.ok()) << fed.message();
  EXPECT_TRUE(session->header_read());
  const int64_t bytes = session->WeightBytes();
  const Result<std::string> report = session->FinishWeights();
  EXPECT_TRUE(report.ok()) << report.status().message();
  EXPECT_NE(report->find("\"weightBytes\":" + std::to_string(bytes)), std::string::npos) << *report;
  return session;
}

std::vector<float> VectorOf(Session& session, const std::string& text) {
  const std::string result =
      RunToEnd(session, R"({"inputs": [{"text": ")" + text + R"("}], "options": {"pooling": "sentence"}})");
  const std::span<const float> values = session.array(0);
  EXPECT_GE(values.size(), size_t{kWidth}) << result;
  return {values.begin(), values.end()};
}

TEST(StaticEmbeddingTest, AVectorIsTheMeanOfTheRows) {
  for (const char* dtype : {"f32", "f16"}) {
    const std::unique_ptr<Session> session = Loaded(dtype);
    EXPECT_EQ(VectorOf(*session, "t2"), (std::vector<float>{2, 2.25, -2, 1})) << dtype;
    EXPECT_EQ(VectorOf(*session, "t2 t4"), (std::vector<float>{3, 3.25, -3, 1})) << dtype;
    // Texts are cut to the limit.
    EXPECT_EQ(VectorOf(*session, "t1 t2 t3 t40"), (std::vector<float>{2, 2.25, -2, 1})) << dtype;
  }
}

// As an empty bag of torch.nn.EmbeddingBag.
TEST(StaticEmbeddingTest, ATextWithoutTokensIsAVectorOfZeros) {
  const std::unique_ptr<Session> session = Loaded("f32");
  EXPECT_EQ(VectorOf(*session, " "), (std::vector<float>{0, 0, 0, 0}));
  const std::string tokens = RunToEnd(*session, R"({"inputs": [{"text": ""}, {"text": "t2"}]})");
  EXPECT_NE(tokens.find("\"dims\":[0,4]"), std::string::npos) << tokens;
  EXPECT_NE(tokens.find("\"dims\":[1,4]"), std::string::npos) << tokens;
}

TEST(StaticEmbeddingTest, QuantisesTheTable) {
  const std::unique_ptr<Session> session = Loaded("q8");
  const std::vector<float> vector = VectorOf(*session, "t20");
  EXPECT_NEAR(vector[0], 20, 0.1);
  EXPECT_NEAR(vector[2], -20, 0.1);
}

}  // namespace
}  // namespace peruse

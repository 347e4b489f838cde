// Hidden states, optionally pooled to one vector per text (transformers' FeatureExtractionPipeline, sentence-transformers' Pooling).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tasks/sentence_embedder.h"
#include "core/tasks/task.h"

namespace peruse {

// kNone returns every token's vector, including special ones. kSentence uses the modules of the model's folder (sentence_embedder.h) and
// truncates long texts. kLastToken may pick a special token. kSplade returns sparse vectors, with a weight for each token of the vocabulary.
// kMultiVector returns a matrix for late interaction.
enum class Pooling { kNone, kCls, kMean, kMax, kSentence, kLastToken, kSplade, kMultiVector };
// Names in the order of the values.
inline constexpr std::string_view kPoolings[] = {"none",     "cls",        "mean",   "max",
                                                 "sentence", "last_token", "splade", "multi_vector"};

struct FeatureExtractionRequest {
  std::vector<std::string> inputs;
  std::optional<Pooling> pooling;  // nullopt means kSentence if there is a prompt, otherwise kNone
  // Role of the texts, which selects the folder's prompt unless a prompt is set. nullopt means the folder's default.
  std::optional<TextRole> role;
  std::optional<std::string> prompt;       // text to put before each input, for kSentence
  std::optional<std::string> prompt_name;  // name of a prompt of the folder; nullopt means the folder's default prompt
  std::optional<int32_t> dimensions;       // number of leading elements to keep of each vector, before `normalize`
  // hidden state to return: 0 the embeddings, 1 the first layer, ...; negative values count from the end
  int32_t layer = -1;
  std::optional<int32_t> top_k;  // number of largest weights to keep of a sparse vector; nullopt means all
  bool normalize = false;        // divide each vector by its length
  bool truncation = false;       // whether to truncate long texts instead of returning kTextTooLong

  template <typename Reader>
  void ReadOptions(Reader& reader) {
    reader.ReadOptional("pooling", &pooling, std::span(kPoolings));
    reader.ReadOptional("prompt", &prompt);
    reader.ReadOptional("prompt_name", &prompt_name);
    reader.ReadOptional("task", &role, std::span(kTextRoles));
    reader.ReadOptional("dimensions", &dimensions, 1);
    reader.ReadOptional("top_k", &top_k, 1);
    reader.Read("layer", INT32_MIN, &layer);
    reader.Read("normalize", &normalize);
    reader.Read("truncation", &truncation);
  }
};

struct Features {
  std::vector<int64_t> dims;  // [tokens, width], [rows, width] for late interaction, or [width] with pooling
  std::vector<float> values;  // row-major
  // For a sparse vector: the token's id and text for each value, in descending order of the values. dims is then [size of the vocabulary].
  bool is_sparse = false;
  std::vector<int32_t> indices;
  std::vector<std::string> tokens;
};

class FeatureExtraction : public TaskOf<FeatureExtractionRequest, Features> {
 public:
  static constexpr Head kHead = Head::kNone;
  explicit FeatureExtraction(const TaskContext& context) : TaskOf(context), sentence_(context.sentence) {}
  Status Start() override;

 protected:
  std::vector<OutputId> Wanted() const override { return {output_}; }
  Status Collect(const Reading& reading, size_t text) override;

 private:
  Status CheckPooling();
  Status CheckSparse();
  Status CheckMultiVector();
  Status EnqueueSentence(size_t input);
  // Enqueues the text's tokens. Without any, a static model has a vector of zeros, and other models have an error.
  Status EnqueueTokens(size_t input, text::Encoding tokens, int32_t keys = 0);
  Features Sparse(std::span<const float> weights, const text::Tokenizer* tokenizer) const;
  Status GiveQueries(const TokenWeights& table);

  const SentenceEmbedder* sentence_;
  Pooling pooling_ = Pooling::kNone;
  std::string prompt_;
  std::vector<size_t> skips_;  // for each input: number of leading tokens that are not pooled
  size_t width_ = 0;
  OutputId output_ = kLastHiddenState;
};

}  // namespace peruse

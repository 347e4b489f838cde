// Sorts documents by how well they answer a query, with a cross-encoder that reads both together (sentence-transformers' CrossEncoder.rank;
// predict for models with several labels). As there, long pairs are truncated, the longer text first, even without a limit of the model.
// Documents are sorted by unrounded scores, so that scores which float32 rounds to 1 keep the order of their logits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tasks/scores.h"
#include "core/tasks/sentence_modules.h"
#include "core/tasks/task.h"

namespace peruse {

struct RankingInput {
  std::string query;
  std::vector<std::string> documents;
};

struct TextRankingRequest {
  std::vector<RankingInput> inputs;
  int32_t top_k = 0;  // number of documents to return, best first; 0 means all
  // nullopt means the function that the checkpoint gives for sentence-transformers; without one, kSigmoid for one label and kNone for
  // several.
  std::optional<ScoreFunction> function;
  // Maximum number of tokens per pair. nullopt means the model's limit, but at most max_position_embeddings.
  std::optional<int32_t> max_length;
  std::string label;  // the label to rank by, if the model has several
  // Text before the query; for a model with a chat template, its instruction. nullopt means the folder's default prompt.
  std::optional<std::string> prompt;
  std::optional<std::string> prompt_name;  // one of the folder's prompts

  template <typename Reader>
  void ReadOptions(Reader& reader) {
    reader.Read("top_k", 1, &top_k);
    reader.ReadOptional("function_to_apply", &function, std::span(kScoreFunctions));
    reader.ReadOptional("max_length", &max_length, 1);
    reader.Read("label", &label);
    reader.ReadOptional("prompt", &prompt);
    reader.ReadOptional("prompt_name", &prompt_name);
  }
};

struct RankedDocument {
  size_t corpus_id;  // index of the document
  float score;
  std::vector<float> scores;  // scores of all labels, if the model has several
};

class TextRanking : public TaskOf<TextRankingRequest, std::vector<RankedDocument>> {
 public:
  static constexpr Head kHead = Head::kSequenceClassification;
  explicit TextRanking(const TaskContext& context);
  Status Start() override;

 protected:
  Status Collect(const Reading& reading, size_t text) override;
  std::vector<OutputId> Wanted() const override { return {output_}; }

 private:
  // Encodes the query with each document, and checks the query.
  Result<std::vector<text::Encoding>> Pairs(const RankingInput& input, int32_t max_length) const;
  std::vector<float> LogitsOf(size_t text) const;
  Result<ScoreFunction> ConfiguredFunction() const;
  Status FindLabel();

  const RankingSettings settings_;
  const class SentenceEmbedder* const sentence_;  // turns token vectors into logits; null if the model has a head
  std::string_view activation_;  // PyTorch class, for example "torch.nn.modules.activation.Sigmoid", or empty
  std::string prompt_;           // text before every query, or the system message of the chat template
  OutputId output_ = kLogits;
  ScoreFunction function_ = ScoreFunction::kSigmoid;
  size_t column_ = 0;                      // column of the logits to rank by
  std::vector<RankedDocument> documents_;  // ranked documents of the current input so far
  std::vector<double> order_;              // their OrderingScores
};

}  // namespace peruse

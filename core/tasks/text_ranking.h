// Text ranking: which documents answer a query best, by a cross-encoder that reads query and document together
// (sentence-transformers' CrossEncoder.rank, and predict for models of several labels). A pair that is too long is cut,
// the longer text first, as in the reference: also where the model has no limit of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tasks/scores.h"
#include "core/tasks/task.h"

namespace peruse {

struct RankingInput {
  std::string query;
  std::vector<std::string> documents;
};

struct TextRankingRequest {
  std::vector<RankingInput> inputs;
  int32_t top_k = 0;  // documents to give, best first; 0: all
  // Unset: what the checkpoint names for sentence-transformers, else kSigmoid for one label and kNone for several.
  std::optional<ScoreFunction> function;
  std::optional<int32_t> max_length;  // tokens to cut to; unset: the model's limit, at most max_position_embeddings
  std::string label;                  // of several labels the one to rank by
};

struct RankedDocument {
  size_t corpus_id;  // which document
  float score;
  std::vector<float> scores;  // of all labels, where there are several
};

class TextRanking : public TaskOf<TextRankingRequest, std::vector<RankedDocument>> {
 public:
  static constexpr Head kHead = Head::kSequenceClassification;
  explicit TextRanking(const TaskContext& context)
      : TaskOf(context), activation_(context.ranking_activation), prompt_(context.ranking_prompt) {
    if (activation_.empty()) activation_ = model_.config().ranking_activation;
  }
  Status Start() override;

 protected:
  Status Collect(const Reading& reading, size_t text) override;

 private:
  Result<ScoreFunction> ConfiguredFunction() const;
  // Sets column_.
  Status FindLabel();

  std::string_view activation_;  // the name of a class of PyTorch, "torch.nn.modules.activation.Sigmoid", or empty
  std::string_view prompt_;      // before every query
  ScoreFunction function_ = ScoreFunction::kSigmoid;
  size_t column_ = 0;                      // to rank by
  std::vector<RankedDocument> documents_;  // so far, of the input that is being read
};

}  // namespace peruse

// Finds the span of a context that answers a question (transformers' QuestionAnsweringPipeline). Splits long contexts into overlapping
// windows. transformers can return spans of score zero that end before they start (short contexts, large top_k); Peruse omits them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tasks/task.h"

namespace peruse {

struct QuestionInput {
  std::string question;
  std::string context;
};

struct QuestionAnsweringRequest {
  std::vector<QuestionInput> inputs;
  int32_t top_k = 1;            // number of answers per question, best first
  int32_t max_answer_len = 15;  // in tokens
  // Tokens per window, including the question and special tokens. nullopt means 384, or the model's limit if lower.
  std::optional<int32_t> max_length;
  // Tokens that adjacent windows share. nullopt means 128, or half a window if lower.
  std::optional<int32_t> stride;
  bool handle_impossible_answer = false;  // whether "no answer" is a candidate, with an empty text
  bool align_to_words = true;             // extend answers to whole words

  template <typename Reader>
  void ReadOptions(Reader& reader) {
    reader.Read("top_k", 1, &top_k);
    reader.Read("max_answer_len", 1, &max_answer_len);
    reader.ReadOptional("max_length", &max_length, 1);
    reader.ReadOptional("stride", &stride, 0);
    reader.Read("handle_impossible_answer", &handle_impossible_answer);
    reader.Read("align_to_words", &align_to_words);
  }
};

struct Answer {
  std::string answer;
  float score;
  TextSpan span;  // range of the answer in the context, in UTF-16 code units
};

class QuestionAnswering : public TaskOf<QuestionAnsweringRequest, std::vector<Answer>> {
 public:
  static constexpr Head kHead = Head::kQuestionAnswering;
  using TaskOf::TaskOf;
  Status Start() override;

 protected:
  Status Collect(const Reading& reading, size_t text) override;

 private:
  struct Span {
    int32_t first_token;
    int32_t last_token;
    float score;
  };
  struct Candidate {
    float score;
    text::Offset bytes;  // range of the answer in the context, in bytes
  };

  Result<text::EncodeOptions> WindowOptions() const;
  // Tokenizes question and context together, in as many windows as needed: none if one of them is blank, because there is no answer.
  Result<std::vector<text::Encoding>> Windows(const QuestionInput& input, const text::EncodeOptions& options) const;
  // Returns the error of a question that left no room for windows. `status` is the tokenizer's.
  Status NoWindows(const Status& status, const std::string& question, const text::EncodeOptions& options) const;
  // Returns the best spans of a window. `start` and `end` contain a probability for each of its tokens.
  std::vector<Span> BestSpans(const text::Encoding& window, std::span<const float> start,
                              std::span<const float> end) const;
  text::Offset SpanBytes(const text::Encoding& window, const Span& span) const;
  void AddCandidate(std::string_view context, text::Offset bytes, float score);
  std::vector<Answer> Ranked(std::string_view context) const;

  // State of the current question over the windows of its context:
  std::vector<Candidate> candidates_;      // in order of discovery
  std::map<std::string, size_t> by_text_;  // equal answers, ignoring case, share a candidate
  float null_score_ = 1e6f;                // smallest probability of "no answer" so far
};

}  // namespace peruse

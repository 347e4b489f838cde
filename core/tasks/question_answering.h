// Extractive question answering: the span of a context that answers a question (transformers'
// QuestionAnsweringPipeline; spec: pipelines.md section 3).
//
// Input:   {"question": string, "context": string}
// Options: top_k (1)                       answers per question, best first
//          max_answer_len (15)             longest answer, in tokens
//          max_seq_len (384 or the model's limit) tokens of one window: question, context and special tokens
//          doc_stride (128 or half a window) tokens that neighbouring windows share
//          handle_impossible_answer (false) also offer the empty answer, with the model's no-answer score
//          align_to_words (true)           widen answers to whole words
// Result:  [{"answer": string, "score": number, "start": n, "end": n}, ...]; start and end are UTF-16 indices, so
//          context.slice(start, end) === answer in JavaScript.
//
// A context longer than a window is read in overlapping windows, all of them. Where the reference can return spans
// of score zero that end before they start (short contexts, large top_k), Peruse returns fewer answers instead.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tasks/task.h"

namespace peruse {

class QuestionAnswering : public Task {
 public:
  QuestionAnswering(const Tokenizer& tokenizer, Model& model) : Task(tokenizer, model) {}

 protected:
  Status Read(JsonValue inputs, JsonValue options) override;
  Status Collect(size_t index, std::span<const float> logits) override;
  void Write(JsonWriter& writer) const override;

 private:
  struct Span {
    int32_t first_token;
    int32_t last_token;
    float score;
  };
  struct Answer {
    std::string text;
    std::string folded;  // lower-cased, for merging
    float score;
    Offset bytes;  // in the context
  };
  struct Question {
    std::string context;
    std::vector<Answer> answers;  // merged over windows, in order of discovery
    float null_score = 1e6f;      // smallest no-answer probability over windows
  };

  Status ReadOptions(JsonValue options);
  // The pair as the model reads it, in as many windows as it takes.
  Result<std::vector<Encoding>> Windows(std::string_view question, std::string_view context) const;
  // The best spans of one window. `start` and `end` are probabilities over its tokens.
  std::vector<Span> BestSpans(const Encoding& window, std::span<const float> start, std::span<const float> end) const;
  // The bytes of the context that a span covers.
  Offset SpanBytes(const Encoding& window, const Span& span) const;
  void AddAnswer(Question& question, Offset bytes, float score) const;
  // The question's answers as they are returned: sorted and cut.
  std::vector<Answer> Ranked(const Question& question) const;

  int32_t top_k_ = 1;
  int32_t max_answer_len_ = 15;
  bool handle_impossible_answer_ = false;
  bool align_to_words_ = true;
  EncodeOptions encode_options_;
  std::vector<Question> questions_;
  std::vector<size_t> question_of_window_;
};

}  // namespace peruse

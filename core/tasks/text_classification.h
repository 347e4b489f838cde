// Text classification: labels a text, or a pair, with scores (transformers' TextClassificationPipeline).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tasks/scores.h"
#include "core/tasks/task.h"

namespace peruse {

// Combines the windows of a text: each label's highest or mean score.
enum class WindowChoice { kMax, kMean };

struct TextClassificationRequest {
  std::vector<TextInput> inputs;
  int32_t top_k = 1;                      // number of labels, best first; 0 means all
  std::optional<ScoreFunction> function;  // unset means the configuration's
  float temperature = 1;                  // divides the logits
  bool truncation = false;  // cut a long text, the longer of a pair first, instead of returning kTextTooLong
  // Read a long text in windows that share this number of tokens, instead of cutting it.
  std::optional<int32_t> stride;
  // Tokens to cut to, or per window. Unset means the model's limit, and for windows at most max_position_embeddings.
  std::optional<int32_t> max_length;
  WindowChoice windows = WindowChoice::kMax;
  // Return the scores of the window with this label's highest score, instead of combining `windows`.
  std::string window_label;
};

struct LabelScore {
  std::string_view label;  // valid as long as the model
  float score;
  std::optional<TextSpan> window;  // with windows: the one with the score
};

class TextClassification : public TaskOf<TextClassificationRequest, std::vector<LabelScore>> {
 public:
  static constexpr Head kHead = Head::kSequenceClassification;
  explicit TextClassification(const TaskContext& context) : TaskOf(context), sentence_(context.sentence) {}
  Status Start() override;

 protected:
  std::vector<OutputId> Wanted() const override { return {output_}; }
  Status Collect(const Reading& reading, size_t text) override;

 private:
  // Limits a number of tokens by the folder's own limit, if any.
  int32_t Limited(int32_t tokens) const;
  // The function that the configuration implies.
  ScoreFunction DefaultFunction() const;
  Status CheckWindows() const;
  // Combines the scores of a text's windows.
  Result<std::vector<LabelScore>> Together(std::string_view text) const;

  const SentenceEmbedder* const sentence_;  // computes the logits if set
  OutputId output_ = kLogits;

  std::vector<std::vector<float>> scores_;  // of the current text's windows so far
  std::vector<text::Offset> spans_;         // byte ranges of these windows in the text
};

}  // namespace peruse

// Text classification: a text, or a pair of texts, to labels with scores (transformers' TextClassificationPipeline).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tasks/scores.h"
#include "core/tasks/task.h"

namespace peruse {

// What the windows of a text make together: of each label the highest score, or the mean.
enum class WindowChoice { kMax, kMean };

struct TextClassificationRequest {
  std::vector<TextInput> inputs;
  int32_t top_k = 1;                      // labels to give, best first; 0: all
  std::optional<ScoreFunction> function;  // unset: what the configuration implies
  float temperature = 1;                  // logits are divided by it
  bool truncation = false;                // cut a text that is too long, the longer of a pair first; else kTextTooLong
  // Instead: read it in windows that share this many tokens.
  std::optional<int32_t> stride;
  // Tokens to cut to, or of a window; unset: what the model takes, for windows at most max_position_embeddings.
  std::optional<int32_t> max_length;
  WindowChoice windows = WindowChoice::kMax;
  // The window where this label's score is highest speaks for the text, with all its scores, instead of `windows`.
  std::string window_label;
};

struct LabelScore {
  std::string_view label;  // lives as long as the model
  float score;
  std::optional<TextSpan> window;  // of windows the one that the score comes from
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
  // Tokens of a text at most, and usually; a folder of modules may have a limit of its own.
  int32_t Limited(int32_t tokens) const;
  // What the configuration implies where the caller does not say.
  ScoreFunction DefaultFunction() const;
  Status CheckWindows() const;
  // The scores of a text from those of its windows.
  Result<std::vector<LabelScore>> Together(std::string_view text) const;

  const SentenceEmbedder* const sentence_;  // computes the logits, if there is one
  OutputId output_ = kLogits;

  std::vector<std::vector<float>> scores_;  // of the windows so far of the text that is being read
  std::vector<text::Offset> spans_;         // and the bytes of the text that each covers
};

}  // namespace peruse

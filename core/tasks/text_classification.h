// Labels a text, or a pair of texts, with scores (transformers' TextClassificationPipeline).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tasks/scores.h"
#include "core/tasks/task.h"

namespace peruse {

// How to combine the scores of a text's windows: each label's highest or mean score.
enum class WindowChoice { kMax, kMean };
inline constexpr std::string_view kWindowChoices[] = {"max", "mean"};  // in the order of the values

struct TextClassificationRequest {
  std::vector<TextInput> inputs;
  int32_t top_k = 1;                      // number of labels to return, best first; 0 means all
  std::optional<ScoreFunction> function;  // nullopt means the function that the configuration determines
  float temperature = 1;                  // logits are divided by it
  // Truncates a long text, or the longer text of a pair first, instead of returning kTextTooLong.
  bool truncation = false;
  // Splits a long text into windows that share this number of tokens, instead of truncating it.
  std::optional<int32_t> stride;
  // Maximum number of tokens per text or window. nullopt means the model's limit, for windows at most max_position_embeddings.
  std::optional<int32_t> max_length;
  WindowChoice windows = WindowChoice::kMax;
  // If set, returns the scores of the window in which this label scores highest, instead of combining windows.
  std::string window_label;

  template <typename Reader>
  void ReadOptions(Reader& reader) {
    if (reader.Member("top_k").IsNull()) {
      top_k = 0;
    } else {
      reader.Read("top_k", 1, &top_k);
    }
    reader.ReadOptional("function_to_apply", &function, std::span(kScoreFunctions));
    reader.Read("temperature", &temperature);
    reader.Read("truncation", &truncation);
    reader.ReadOptional("stride", &stride, 0);
    reader.ReadOptional("max_length", &max_length, 1);
    reader.Read("windows", kWindowChoices, &windows);
    reader.Read("window_label", &window_label);
  }
};

struct LabelScore {
  std::string_view label;  // valid until the model is destroyed
  float score;
  std::optional<TextSpan> window;  // if the text is split into windows: the window with this score
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
  int32_t Limited(int32_t tokens) const;
  ScoreFunction DefaultFunction() const;
  Status CheckWindows() const;
  Result<std::vector<LabelScore>> Together(std::string_view text) const;

  const SentenceEmbedder* const sentence_;  // computes the logits of a folder with modules; null otherwise
  OutputId output_ = kLogits;

  std::vector<std::vector<float>> scores_;  // scores of the current text's windows so far
  std::vector<text::Offset> spans_;         // byte ranges of these windows in the text
};

}  // namespace peruse

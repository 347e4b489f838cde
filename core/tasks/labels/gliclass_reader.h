// The input of a GLiClass model: a text with its labels, or the text alone for a bi-encoder.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/families/config.h"
#include "core/tasks/labels/label_reader.h"
#include "core/tasks/outputs.h"
#include "core/tasks/task.h"

namespace peruse {

class LabelledTextReader {
 public:
  explicit LabelledTextReader(const TaskContext& context)
      : tokenizer_(context.tokenizer), model_(context.model), reader_(context) {}

  // Returns the readings of labels, which must run before all texts. `labels` must outlive the reader.
  Result<std::vector<Reading>> Start(std::span<const std::string> labels) {
    labels_ = labels;
    if (reader_.needed()) return reader_.Start(labels);
    return std::vector<Reading>();
  }
  void Collect(const Reading& reading, std::span<const float> vector) { reader_.Collect(reading, vector); }
  // Errors: kTextTooLong if the labels do not fit, or if the text does not and must not be truncated.
  Result<Reading> Read(size_t input, const std::string& text, bool truncate) const;

 private:
  const text::Tokenizer& tokenizer_;
  const Runner& model_;
  LabelReader reader_;
  std::span<const std::string> labels_;
};

// Joins `text` and labels: <<LABEL>>travel<<LABEL>>food<<SEP>>The train was late, or with the text first. For a bi-encoder the result
// contains no labels, or only their markers.
std::string WithLabels(const LabelledInput& input, std::span<const std::string> labels, const std::string& text);

// Returns the rows of the text and of its labels among the tokens.
HeadLists LabelRows(const LabelledInput& input, std::span<const int32_t> ids);

void PairTextWithLabels(size_t labels, HeadLists* head);

}  // namespace peruse

// The input of a GLiClass model: a text with its labels, or the text alone for a bi-encoder.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/tasks/labels/label_reader.h"
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

}  // namespace peruse

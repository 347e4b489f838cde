// Labels that a model reads apart from texts (a bi-encoder), as vectors that are kept between calls.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tasks/task.h"

namespace peruse {

// What was made of labels so far, for a session.
class LabelVectors {
 public:
  // Null: the label was not read yet, or was forgotten.
  const std::vector<float>* Find(std::string_view label) const {
    const auto found = vectors_.find(label);
    return found == vectors_.end() ? nullptr : &found->second;
  }
  // Forgets all others when there are too many.
  void Keep(std::string_view label, std::span<const float> vector) {
    if (vectors_.size() >= kMost) vectors_.clear();
    vectors_.insert_or_assign(std::string(label), std::vector<float>(vector.begin(), vector.end()));
  }

 private:
  static constexpr size_t kMost = 1 << 14;  // of 768 columns 50 MB

  std::map<std::string, std::vector<float>, std::less<>> vectors_;
};

// The labels of one request.
class LabelReader {
 public:
  explicit LabelReader(const TaskContext& context)
      : tokenizer_(context.labels_tokenizer), model_(context.model), kept_(context.label_vectors) {}

  // Whether labels are read so: the model has an encoder for them.
  bool needed() const { return model_.config().label_encoder.has_value(); }
  // What is to be read before any text. `labels` outlives this.
  Result<std::vector<Reading>> Start(std::span<const std::string> labels);
  // Of a reading that Start gave.
  void Collect(const Reading& reading, std::span<const float> vector);
  // The vectors of labels [first, first + count), which are there when all have been read; the memory stays.
  std::span<const float> vectors(size_t first, size_t count) const {
    return std::span(vectors_).subspan(first * width_, count * width_);
  }

 private:
  const text::Tokenizer* const tokenizer_;
  const Runner& model_;
  LabelVectors* const kept_;
  std::span<const std::string> labels_;
  size_t width_ = 0;
  std::vector<float> vectors_;  // [labels, width]
};

}  // namespace peruse

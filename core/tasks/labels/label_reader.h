// Vectors of labels, for models that encode labels separately from texts (bi-encoders). Caches them between calls.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tasks/task.h"

namespace peruse {

class LabelVectors {
 public:
  const std::vector<float>* Find(std::string_view label) const {
    const auto found = vectors_.find(label);
    return found == vectors_.end() ? nullptr : &found->second;
  }
  // If the cache is full, clears it first.
  void Keep(std::string_view label, std::span<const float> vector) {
    if (vectors_.size() >= kMost) vectors_.clear();
    vectors_.insert_or_assign(std::string(label), std::vector<float>(vector.begin(), vector.end()));
  }

 private:
  static constexpr size_t kMost = 1 << 14;  // 50 MB with 768 columns

  std::map<std::string, std::vector<float>, std::less<>> vectors_;
};

class LabelReader {
 public:
  explicit LabelReader(const TaskContext& context)
      : tokenizer_(context.labels_tokenizer), model_(context.model), kept_(context.label_vectors) {}

  bool needed() const { return model_.config().label_encoder.has_value(); }
  // Returns the readings of labels that are not cached, which must run before all texts. `labels` must outlive the reader.
  Result<std::vector<Reading>> Start(std::span<const std::string> labels);
  void Collect(const Reading& reading, std::span<const float> vector);
  std::span<const float> vectors(size_t first, size_t count) const {
    return std::span(vectors_).subspan(first * width_, count * width_);
  }

 private:
  const text::Tokenizer* const tokenizer_;
  const Runner& model_;
  LabelVectors* const kept_;
  std::span<const std::string> labels_;
  size_t width_ = 0;
  std::vector<float> vectors_;  // vectors of all labels of the request: [labels, width]
};

}  // namespace peruse

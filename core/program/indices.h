#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/program/program.h"
#include "core/tensor/ragged_batch.h"

namespace peruse {

// One text. If type_ids is empty, all tokens are in segment 0.
struct ModelInput {
  std::span<const int32_t> ids;       // including special tokens
  std::span<const int32_t> type_ids;  // segment of each token
};

// Inputs of a head for a batch of one text.
struct HeadInputs {
  std::span<const int32_t> words;         // first row of each word
  std::span<const int32_t> word_tokens;   // number of rows of each word
  std::span<const int32_t> labels;        // first row of each label
  std::span<const int32_t> label_tokens;  // number of rows of each label
  std::span<const int32_t> pair_first;    // word number of each pair's first member
  std::span<const int32_t> pair_second;   // word or label number of each pair's second member
  int32_t second_segment = 0;             // first row of the second segment
  std::span<const float> label_vectors;   // label vectors of a bi-encoder: [labels, width], row-major
};

struct BatchInputs {
  std::span<const ModelInput> texts;
  const RaggedBatch& batch;
  std::span<const int32_t> chosen;  // rows of the batch that the caller requests; empty means all rows
  HeadInputs head = {};
};

Sizes SizesOf(const BatchInputs& inputs);

class BatchIndices {
 public:
  void Fill(const Program& program, const BatchInputs& inputs);
  std::span<const std::span<const int32_t>> views() const { return views_; }

 private:
  std::vector<Index::Values> values_;  // one list per index of the program, reused for each batch
  std::vector<std::span<const int32_t>> views_;
};

}  // namespace peruse

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

// Inputs of a head for a batch of one text. Index::Kind describes each list.
struct HeadInputs {
  std::span<const int32_t> words;
  std::span<const int32_t> word_tokens;
  std::span<const int32_t> labels;
  std::span<const int32_t> label_tokens;
  std::span<const int32_t> pair_first;
  std::span<const int32_t> pair_second;
  int32_t second_segment = 0;            // first row of the second segment
  std::span<const float> label_vectors;  // label vectors of a bi-encoder: [labels, width], row-major
};

struct BatchInputs {
  std::span<const ModelInput> texts;
  const RaggedBatch& batch;
  std::span<const int32_t> chosen;  // rows of the batch that the caller requests; empty means all rows
  HeadInputs head = {};
};

Sizes SizesOf(const BatchInputs& inputs);

// Returns DeBERTa v2's logarithmic bucket of a distance (make_log_bucket_position).
int32_t LogBucket(int32_t distance, int32_t buckets, int32_t max_position);
// Returns T5's bucket (T5Attention._relative_position_bucket), not negative: the upper half is for keys after the query.
int32_t T5Bucket(int32_t distance, int32_t buckets, int32_t max_distance);

class BatchIndices {
 public:
  void Fill(const Program& program, const BatchInputs& inputs);
  std::span<const std::span<const int32_t>> views() const { return views_; }

 private:
  std::span<const int32_t> FillSlots(const Index& index, int32_t reach, std::vector<int32_t>& values);

  std::vector<std::vector<int32_t>> values_;  // one list per index of the program, reused for each batch
  std::vector<std::span<const int32_t>> views_;
};

}  // namespace peruse

// The integers that a batch brings to a program.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/program/program.h"
#include "core/tensor/ragged_batch.h"

namespace peruse {

// One text. type_ids may be empty: all zeros.
struct ModelInput {
  std::span<const int32_t> ids;       // token ids, special tokens included
  std::span<const int32_t> type_ids;  // segment of each token
};

// What a head reads beside the text, of which there is one then (Index::Kind says what each list means).
struct HeadInputs {
  std::span<const int32_t> words;
  std::span<const int32_t> word_tokens;
  std::span<const int32_t> labels;
  std::span<const int32_t> label_tokens;
  std::span<const int32_t> pair_first;
  std::span<const int32_t> pair_second;
  int32_t second_segment = 0;            // its first row
  std::span<const float> label_vectors;  // of a bi-encoder, row by row
};

// What an index is filled from.
struct BatchInputs {
  std::span<const ModelInput> texts;
  const RaggedBatch& batch;
  std::span<const int32_t> chosen;  // rows of the batch; empty: all
  HeadInputs head = {};
};

// How large the domains are for a batch.
Sizes SizesOf(const BatchInputs& inputs);

// DeBERTa v2's logarithmic bucket of a distance (make_log_bucket_position).
int32_t LogBucket(int32_t distance, int32_t buckets, int32_t max_position);
// T5's, in both directions: one half of the buckets for keys behind the query, one for those before it; not negative
// (T5Attention._relative_position_bucket).
int32_t T5Bucket(int32_t distance, int32_t buckets, int32_t max_distance);

// The integers of all indices of a program, made anew for each batch in the memory of the last.
class BatchIndices {
 public:
  void Fill(const Program& program, const BatchInputs& inputs);
  // By IndexId.
  std::span<const std::span<const int32_t>> views() const { return views_; }

 private:
  std::span<const int32_t> FillSlots(const Index& index, int32_t reach, std::vector<int32_t>& values);

  std::vector<std::vector<int32_t>> values_;     // by index
  std::vector<std::span<const int32_t>> views_;  // of values_
};

}  // namespace peruse

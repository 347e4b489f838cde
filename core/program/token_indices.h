// Lists of integers that depend on the texts of a batch (core/ops/index.h).
#pragma once

#include <cstdint>
#include <span>

#include "core/program/indices.h"

namespace peruse::indices {

struct TokenIds {     // [tokens]
  int32_t first = 0;  // the row of token 0

  Extent extent() const { return {Domain::kTokens, 1}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values& values) const;
};

struct TokenTypes {   // segment of each token  [tokens]
  int32_t first = 0;  // the row of segment 0

  Extent extent() const { return {Domain::kTokens, 1}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values& values) const;
};

struct Positions {  // position of each token in its text  [tokens]
  Extent extent() const { return {Domain::kTokens, 1}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values& values) const;
};

// Positions that start after `padding`, which is the position of padding tokens. These are not counted.
struct PaddedPositions {  // [tokens]
  int32_t padding = 0;

  Extent extent() const { return {Domain::kTokens, 1}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values& values) const;
};

struct FirstOfText {  // row of the first token of each token's text  [tokens]
  Extent extent() const { return {Domain::kTokens, 1}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values& values) const;
};

struct FirstTokens {  // row of each text's first token  [sequences]
  static constexpr bool kChooses = true;

  Extent extent() const { return {Domain::kSequences, 1}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values& values) const;
};

struct LastTokens {  // row of each text's last token  [sequences]
  static constexpr bool kChooses = true;
  // Tokens of this id at the end are skipped, unless the text has no others; -1 skips none.
  int32_t padding = -1;

  Extent extent() const { return {Domain::kSequences, 1}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values& values) const;
};

struct Lengths {  // number of tokens of each text  [sequences]
  Extent extent() const { return {Domain::kSequences, 1}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values& values) const;
};

struct Chosen {  // rows that the caller requests  [chosen]
  static constexpr bool kChooses = true;

  Extent extent() const { return {Domain::kChosen, 1}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values& values) const;
};

struct AllRows {  // the numbers below `rows`  [rows]
  int32_t rows = 0;

  Extent extent() const { return {Domain::kOne, rows}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values& values) const;
};

// Row of the position table for each distance: clamp(bucket(distance) + offset, 0, rows - 1).
struct Slots {  // [2 * longest - 1]
  enum class Buckets : int32_t { kNone, kLog, kT5 };

  int32_t rows = 0;
  int32_t offset = 0;
  Buckets kind = Buckets::kNone;
  int32_t buckets = 0;
  int32_t max_position = 0;  // larger distances share the last bucket

  Extent extent() const { return {Domain::kLongest, 2}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values& values) const;

 private:
  int32_t SlotOf(int32_t distance) const;
};

// Returns DeBERTa v2's logarithmic bucket of a distance (make_log_bucket_position).
int32_t LogBucket(int32_t distance, int32_t buckets, int32_t max_position);
// Returns T5's bucket (T5Attention._relative_position_bucket), not negative: the upper half is for keys after the query.
int32_t T5Bucket(int32_t distance, int32_t buckets, int32_t max_distance);

}  // namespace peruse::indices

// Which row of DeBERTa's relative position table a distance between two tokens means (spec: deberta.md A5, B3, C3, C4).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/models/config.h"

namespace peruse {

// transformers' make_log_bucket_position: distances up to buckets / 2 are exact, larger ones share logarithmic buckets.
// max_position is the number of distances that the buckets were made for.
int32_t LogBucket(int32_t distance, int32_t buckets, int32_t max_position);

// Rows of the relative table: [0, 2 * span).
int32_t RelativeTableSpan(const ModelConfig& config);
// Row for query position - key position.
int32_t RelativeRow(const ModelConfig& config, int32_t distance);

// The rows of all distances in (-reach, reach), grown as longer texts come.
class RelativeSlots {
 public:
  explicit RelativeSlots(const ModelConfig& config) : config_(config) {}

  // [2 * reach - 1], by distance + reach - 1. Lives until a call with a larger reach.
  std::span<const int32_t> Get(int32_t reach);

 private:
  const ModelConfig& config_;
  int32_t reach_ = 0;
  std::vector<int32_t> slots_;
};

}  // namespace peruse

// Softmax attention, plain and with DeBERTa's relative position terms.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/backend/backend.h"
#include "core/backend/xnnpack/block.h"
#include "core/backend/xnnpack/thread_pool.h"

namespace peruse::xnnpack {

// AttentionArgs and RelativePositions as memory. A Block without data is left out.
struct AttentionBlocks {
  Block query, key, value;  // [rows, heads * head_dim]
  Block position_key;       // [slots, heads * head_dim]
  Block position_query;     // [slots, heads * head_dim]
  Block probabilities;      // see AttentionArgs
  Block out;                // [rows, heads * head_dim]
  int32_t heads = 0;
  float scale = 1;
};

// Bytes of workspace that RunAttention needs.
int64_t AttentionScratch(const AttentionBlocks& blocks, const RaggedBatch& batch, int32_t threads);

void RunAttention(const ThreadPool& pool, const AttentionBlocks& blocks, const RelativePositions& positions,
                  const RaggedBatch& batch, std::byte* scratch);

}  // namespace peruse::xnnpack

// Convolutions over the tokens of each sequence.
#pragma once

#include "core/backend/xnnpack/block.h"
#include "core/backend/xnnpack/linear.h"
#include "core/backend/xnnpack/thread_pool.h"
#include "core/tensor/ragged_batch.h"

namespace peruse::xnnpack {

void RunDepthwiseConv(const ThreadPool& pool, const Block& x, const Block& taps, const RaggedBatch& batch,
                      const Block& out);

// kernels receives the softmax of the logits; [rows, logits.cols].
void RunSpanConv(const ThreadPool& pool, const Block& logits, const Block& values, int32_t heads,
                 const RaggedBatch& batch, const Block& kernels, const Block& out);

// Floats of workspace that RunConv1d needs.
int64_t Conv1dScratch(const ThreadPool& pool, const Block& x, const PackedLinear& weight, int32_t kernel_size,
                      const RaggedBatch& batch);
void RunConv1d(const ThreadPool& pool, const Block& x, const PackedLinear& weight, int32_t kernel_size,
               Activation activation, const RaggedBatch& batch, float* scratch, const Block& out);

}  // namespace peruse::xnnpack

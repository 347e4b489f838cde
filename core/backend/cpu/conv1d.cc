#include <algorithm>
#include <cstring>

#include "core/backend/cpu/runner.h"

namespace peruse::cpu {
namespace {

constexpr int64_t kSlack = 16;  // floats for over-reads and alignment

// Conv1d copies each group's inputs, with (kernel_size - 1) / 2 zero rows before, between and after the texts. The window of a token is
// then one contiguous row of the copy, and the convolution is a linear layer over overlapping rows.
int64_t PaddedFloats(const Block& x, int32_t kernel_size, const RaggedBatch& batch) {
  return RoundUp((x.rows + int64_t{batch.sequences() + 1} * (kernel_size - 1) / 2) * x.cols + kSlack, kSlack);
}

int64_t Conv1dScratch(const ThreadPool& pool, const Block& x, const PackedLinear& weight, int32_t kernel_size,
                      const RaggedBatch& batch) {
  return PaddedFloats(x, kernel_size, batch) + weight.Scratch(batch.longest(), pool.threads());
}

void RunConv1d(const ThreadPool& pool, const Block& x, const PackedLinear& weight, int32_t kernel_size,
               Activation activation, const RaggedBatch& batch, float* scratch, const Block& out) {
  const int64_t pad = (kernel_size - 1) / 2;
  const int64_t width = x.cols / weight.spec().groups;
  const int64_t padded_rows = x.rows + (batch.sequences() + 1) * pad;
  float* linear_scratch = scratch + PaddedFloats(x, kernel_size, batch);
  std::fill_n(scratch, padded_rows * x.cols, 0.0f);
  for (int64_t g = 0; g < weight.spec().groups; ++g) {
    for (int32_t s = 0; s < batch.sequences(); ++s) {
      for (int64_t t = batch.start(s); t < batch.start(s) + batch.length(s); ++t) {
        float* row = scratch + (g * padded_rows + t + (s + 1) * pad) * width;
        std::memcpy(row, x.row(t) + g * width, static_cast<size_t>(width) * sizeof(float));
      }
    }
  }
  for (int32_t s = 0; s < batch.sequences(); ++s) {
    const int64_t start = batch.start(s);
    const Block windows{scratch + (start + s * pad) * width, batch.length(s), kernel_size * width, width};
    const Block results{out.row(start), batch.length(s), out.cols, out.stride};
    weight.Run(pool, windows, padded_rows * width, 0, activation, linear_scratch, results);
  }
}

}  // namespace

template <>
Status Run(Runner& r, const ops::Conv1d& op) {
  const Block x = r.View(op.x);
  const PackedLinear& weight = r.linear(op.weight);
  const int64_t floats = Conv1dScratch(r.pool(), x, weight, op.kernel_size, r.batch());
  const Scratch scratch(r, floats * static_cast<int64_t>(sizeof(float)));
  if (!scratch) return NoWorkspace();
  RunConv1d(r.pool(), x, weight, op.kernel_size, op.activation, r.batch(), scratch.floats(), r.View(op.out));
  return OkStatus();
}

}  // namespace peruse::cpu

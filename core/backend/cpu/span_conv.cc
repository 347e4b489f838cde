#include "core/backend/cpu/runner.h"
#include "core/backend/cpu/taps.h"
#include "core/cpu/activations.h"
#include "core/cpu/simd.h"

namespace peruse::cpu {
namespace {

// Stores the softmax of the logits in `kernels` [rows, logits.cols], which may be the memory of the logits.
void RunSpanConv(const ThreadPool& pool, const Block& logits, const Block& values, int32_t heads,
                 const RaggedBatch& batch, const Block& kernels, const Block& out) {
  const int64_t taps = logits.cols / heads;
  const int64_t head_dim = values.cols / heads;
  pool.ForRows(values.rows, 8, [&](int64_t first, int64_t last) {
    ForEachRow(batch, first, last, [&](int64_t t, int64_t start, int64_t end) {
      SoftmaxGroups(logits.row(t), heads, taps, kernels.row(t));
      const TapRange range(t, taps, start, end);
      for (int64_t h = 0; h < heads; ++h) {
        const float* kernel = kernels.row(t) + h * taps;
        SumTaps(values.row(range.first_row) + h * head_dim, values.stride, range.first, range.last, head_dim,
                out.row(t) + h * head_dim, [&](int64_t j, int64_t) { return simd::Set(kernel[j]); });
      }
    });
  });
}

}  // namespace

template <>
Status Run(Runner& r, const ops::SpanConv& op) {
  const Block values = r.View(op.values);
  const int64_t taps = int64_t{op.heads} * op.kernel_size;
  const Scratch scratch(r, op.kernels.valid() ? 0 : values.rows * taps * static_cast<int64_t>(sizeof(float)));
  if (!scratch) return NoWorkspace();
  const Block kernels = op.kernels.valid() ? r.View(op.kernels) : Block{scratch.floats(), values.rows, taps, taps};
  Block logits = r.View(op.logits);
  if (op.weight.valid()) {
    PERUSE_RETURN_IF_ERROR(Project(r, logits, op.weight, Activation::kNone, kernels));
    logits = kernels;
  }
  RunSpanConv(r.pool(), logits, values, op.heads, r.batch(), kernels, r.View(op.out));
  return OkStatus();
}

}  // namespace peruse::cpu

#include "core/backend/xnnpack/convolution.h"

#include <algorithm>
#include <cstring>

#include "core/backend/xnnpack/simd.h"

namespace peruse::xnnpack {
namespace {

using namespace simd;  // NOLINT: this file is vector code throughout

// The taps j of a kernel of size `taps` for which row t + j - (taps - 1) / 2 lies in [start, end).
struct TapRange {
  TapRange(int64_t t, int64_t taps, int64_t start, int64_t end)
      : first(std::max<int64_t>(0, start - t + (taps - 1) / 2)),
        last(std::min<int64_t>(taps, end - t + (taps - 1) / 2)),
        first_row(t + first - (taps - 1) / 2) {}

  int64_t first;
  int64_t last;       // one past
  int64_t first_row;  // the row that `first` reads
};

// Calls visit(t, start, end) for every row t in [first, last), whose sequence is the rows [start, end).
template <typename Visit>
void ForEachRow(const RaggedBatch& batch, int64_t first, int64_t last, Visit visit) {
  const auto& starts = batch.starts();
  auto next = std::upper_bound(starts.begin(), starts.end(), static_cast<int32_t>(first));
  for (int64_t t = first; t < last; ++t) {
    if (t == *next) ++next;
    visit(t, int64_t{*(next - 1)}, int64_t{*next});
  }
}

// sum_j of weight(j, column) * row_j[column] for vectors of columns.
template <typename TapWeight>
void SumTaps(const float* rows, int64_t stride, int64_t first_tap, int64_t last_tap, int64_t count, float* out,
             TapWeight weight) {
  int64_t c = 0;
  for (; c + kLanes <= count; c += kLanes) {
    Floats sum = hn::Zero(kTag);
    const float* source = rows + c;
    for (int64_t j = first_tap; j < last_tap; ++j, source += stride) sum = Madd(weight(j, c), Load(source), sum);
    Store(sum, out + c);
  }
  if (c == count) return;
  Floats sum = hn::Zero(kTag);
  const float* source = rows + c;
  for (int64_t j = first_tap; j < last_tap; ++j, source += stride) {
    sum = Madd(weight(j, c), LoadFirst(source, count - c), sum);
  }
  StoreFirst(sum, out + c, count - c);
}

// Softmax over each of the heads' taps of one row.
void SoftmaxTaps(const float* logits, int64_t heads, int64_t taps, float* out) {
  for (int64_t h = 0; h < heads; ++h) {
    const float largest = *std::max_element(logits + h * taps, logits + (h + 1) * taps);
    for (int64_t j = h * taps; j < (h + 1) * taps; ++j) out[j] = logits[j] - largest;
  }
  Map(out, out, heads * taps, [](Floats v) { return Exp(v); });
  for (int64_t h = 0; h < heads; ++h) {
    float sum = 0;
    for (int64_t j = h * taps; j < (h + 1) * taps; ++j) sum += out[j];
    for (int64_t j = h * taps; j < (h + 1) * taps; ++j) out[j] /= sum;
  }
}

}  // namespace

void RunDepthwiseConv(const ThreadPool& pool, const Block& x, const Block& taps, const RaggedBatch& batch,
                      const Block& out) {
  pool.ForRows(x.rows, 8, [&](int64_t first, int64_t last) {
    ForEachRow(batch, first, last, [&](int64_t t, int64_t start, int64_t end) {
      const TapRange range(t, taps.rows, start, end);
      SumTaps(x.row(range.first_row), x.stride, range.first, range.last, x.cols, out.row(t),
              [&](int64_t j, int64_t c) {  // taps is a whole matrix: reading past a row's end is reading the next
                return Load(taps.row(j) + c);
              });
    });
  });
}

void RunSpanConv(const ThreadPool& pool, const Block& logits, const Block& values, int32_t heads,
                 const RaggedBatch& batch, const Block& kernels, const Block& out) {
  const int64_t taps = logits.cols / heads;
  const int64_t head_dim = values.cols / heads;
  pool.ForRows(values.rows, 8, [&](int64_t first, int64_t last) {
    ForEachRow(batch, first, last, [&](int64_t t, int64_t start, int64_t end) {
      SoftmaxTaps(logits.row(t), heads, taps, kernels.row(t));
      const TapRange range(t, taps, start, end);
      for (int64_t h = 0; h < heads; ++h) {
        const float* kernel = kernels.row(t) + h * taps;
        SumTaps(values.row(range.first_row) + h * head_dim, values.stride, range.first, range.last, head_dim,
                out.row(t) + h * head_dim, [&](int64_t j, int64_t) { return Set(kernel[j]); });
      }
    });
  });
}

constexpr int64_t kSlack = 16;  // floats, against over-reads and for alignment

// Conv1d copies each group's inputs with (kernel_size - 1) / 2 rows of zeros before, between and after the sequences.
// A token's window is then one contiguous row of the copy, windows of neighbours overlap, and the convolution is a
// Linear over them: nothing is unfolded.
int64_t PaddedFloats(const Block& x, int32_t kernel_size, const RaggedBatch& batch) {
  return RoundUp((x.rows + int64_t{batch.sequences() + 1} * (kernel_size - 1) / 2) * x.cols + kSlack, kSlack);
}

int64_t Conv1dScratch(const ThreadPool& pool, const Block& x, const PackedLinear& weight, int32_t kernel_size,
                      const RaggedBatch& batch) {
  return PaddedFloats(x, kernel_size, batch) + LinearScratch(weight, batch.longest(), pool.threads());
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
    RunLinear(pool, windows, padded_rows * width, weight, activation, linear_scratch, results);
  }
}

}  // namespace peruse::xnnpack

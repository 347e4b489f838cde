#include "core/backend/reference/reference_backend.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/backend/quantize.h"
#include "core/backend/reference/reference_math.h"
#include "core/backend/reference/reference_memory.h"
#include "core/backend/shape_check.h"

namespace peruse {
namespace {

using reference::LinearWeight;
using reference::Matrix;

class ReferenceBackend final : public Backend {
 public:
  std::string_view name() const override { return "reference"; }

  Result<Weight> CreateLinear(const LinearSpec& spec) override;
  Status WriteLinear(Weight weight, int32_t first_row, std::span<const float> rows) override;
  Status WriteInt8(Weight weight, int32_t first_row, std::span<const int8_t> rows) override;
  Status WriteScales(Weight weight, int32_t first_row, std::span<const float> scales) override;
  Status WriteBias(Weight weight, int32_t first, std::span<const float> values) override;
  void FreeLinear(Weight weight) override { memory_.FreeLinear(weight); }
  Result<Tensor> CreateConstant(int32_t rows, int32_t cols) override { return memory_.CreateConstant(rows, cols); }
  Status WriteConstant(Tensor constant, int32_t first_row, std::span<const float> rows) override;
  int64_t WeightBytes() const override { return memory_.weight_bytes(); }

  void BeginRun() override;
  Status Submit() override { return failed_ ? OutOfMemory("no memory for the run's workspace") : OkStatus(); }
  Tensor New(int32_t rows, int32_t cols) override;
  int64_t WorkspaceMark() const override { return memory_.mark(); }
  void WorkspaceRelease(int64_t mark) override { memory_.Release(mark); }
  void Upload(std::span<const float> values, Tensor out) override;
  void Download(Tensor x, std::span<float> destination) override;

  void Linear(Tensor x, Weight weight, Activation activation, Tensor out) override;
  void LinearAddNorm(Tensor x, Weight weight, Tensor residual, const Norm& norm, Tensor out) override;
  void LayerNorm(Tensor x, const Norm& norm, Tensor out) override;
  void AddNorm(Tensor x, Tensor y, const Norm& norm, Tensor out) override;
  void Attention(const AttentionArgs& args, const RaggedBatch& batch, Tensor out) override;
  void DisentangledAttention(const AttentionArgs& args, const RelativePositions& positions, const RaggedBatch& batch,
                             Tensor out) override;
  void DepthwiseConv(Tensor x, Tensor taps, const RaggedBatch& batch, Tensor out) override;
  void SpanConv(Tensor logits, Tensor values, int32_t heads, const RaggedBatch& batch, Tensor out,
                Tensor kernels) override;
  void Conv1d(Tensor x, Weight weight, int32_t kernel_size, Activation activation, const RaggedBatch& batch,
              Tensor out) override;
  void Multiply(Tensor x, Tensor y, Tensor out) override;
  void Add(Tensor x, Tensor y, Tensor out) override;
  void Activate(Tensor x, Activation activation, Tensor out) override;
  void SelectRows(Tensor x, std::span<const int32_t> rows, Tensor out) override;

 private:
  // out[row] = x_row W^T + b for one row of features.
  void ProjectRow(const double* features, const LinearWeight& linear, double* out) const;
  void NormRow(const double* x, const Norm& norm, double* out) const;
  // scores[j] = scale (query_i . key_j + position terms) of one head of one sequence.
  void ScoreRow(const AttentionArgs& args, const RelativePositions& positions, int32_t head, int32_t start, int32_t i,
                std::span<double> scores) const;

  Matrix View(Tensor x) const { return memory_.View(x); }

  reference::Memory memory_;
  bool failed_ = false;  // out of memory in this run
};

double Dot(const double* a, const double* b, int32_t n) {
  double sum = 0;
  for (int32_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// ---- Weights and constants ----------------------------------------------------------------------------------

Result<Weight> ReferenceBackend::CreateLinear(const LinearSpec& spec) {
  CheckSpec(spec);
  PERUSE_RETURN_IF_ERROR(CheckInt8Depth(spec));
  return memory_.CreateLinear(spec);
}

Status ReferenceBackend::WriteLinear(Weight weight, int32_t first_row, std::span<const float> rows) {
  LinearWeight& linear = memory_.linear(weight);
  const int64_t width = linear.spec.in / linear.spec.groups;
  CheckWrite(linear.spec, /*int8=*/false);
  CheckRows(linear.spec, first_row, rows.size(), width);
  std::copy(rows.begin(), rows.end(), linear.weight.get() + first_row * width);
  return OkStatus();
}

Status ReferenceBackend::WriteInt8(Weight weight, int32_t first_row, std::span<const int8_t> rows) {
  LinearWeight& linear = memory_.linear(weight);
  const int64_t width = linear.spec.in / linear.spec.groups;
  CheckWrite(linear.spec, /*int8=*/true);
  CheckRows(linear.spec, first_row, rows.size(), width);
  std::copy(rows.begin(), rows.end(), linear.weight.get() + first_row * width);
  return OkStatus();
}

Status ReferenceBackend::WriteScales(Weight weight, int32_t first_row, std::span<const float> scales) {
  LinearWeight& linear = memory_.linear(weight);
  CheckWrite(linear.spec, /*int8=*/true);
  CheckRows(linear.spec, first_row, scales.size(), 1);
  std::copy(scales.begin(), scales.end(), linear.scale.get() + first_row);
  return OkStatus();
}

Status ReferenceBackend::WriteBias(Weight weight, int32_t first, std::span<const float> values) {
  LinearWeight& linear = memory_.linear(weight);
  PERUSE_CHECK(first >= 0 && first + static_cast<int64_t>(values.size()) <= linear.spec.out);
  std::copy(values.begin(), values.end(), linear.bias.get() + first);
  return OkStatus();
}

Status ReferenceBackend::WriteConstant(Tensor constant, int32_t first_row, std::span<const float> rows) {
  const Matrix out = View(constant);
  const int64_t count = static_cast<int64_t>(rows.size());
  PERUSE_CHECK(first_row >= 0 && count % out.cols == 0 && first_row + count / out.cols <= out.rows);
  for (int64_t i = 0; i < count; ++i) out(first_row + i / out.cols, i % out.cols) = rows[i];
  return OkStatus();
}

// ---- A run --------------------------------------------------------------------------------------------------

void ReferenceBackend::BeginRun() {
  memory_.Release(0);
  failed_ = false;
}

Tensor ReferenceBackend::New(int32_t rows, int32_t cols) {
  bool ok = true;
  const Tensor tensor = memory_.New(rows, cols, &ok);
  if (!ok) failed_ = true;
  return tensor;
}

void ReferenceBackend::Upload(std::span<const float> values, Tensor out) {
  if (failed_) return;
  const Matrix y = View(out);
  PERUSE_CHECK(static_cast<int64_t>(values.size()) == int64_t{y.rows} * y.cols);
  for (size_t i = 0; i < values.size(); ++i) {
    y(static_cast<int64_t>(i) / y.cols, static_cast<int64_t>(i) % y.cols) = values[i];
  }
}

void ReferenceBackend::Download(Tensor x, std::span<float> destination) {
  if (failed_) return;
  const Matrix m = View(x);
  PERUSE_CHECK(static_cast<int64_t>(destination.size()) == int64_t{m.rows} * m.cols);
  for (size_t i = 0; i < destination.size(); ++i) {
    const int64_t index = static_cast<int64_t>(i);
    destination[i] = static_cast<float>(m(index / m.cols, index % m.cols));
  }
}

// ---- Linear and norm ----------------------------------------------------------------------------------------

// The integers that a group's slice of a row becomes, and their scale. Sums of their products are exact in double.
double QuantizeSlice(const double* features, const LinearSpec& spec, double* integers) {
  const int32_t in = spec.in / spec.groups;
  const std::vector<float> values(features, features + in);
  std::vector<int16_t> quantized(values.size());
  const float scale = QuantizeRow(std::span(values), InputLevels(in, spec.wide_input), quantized.data());
  std::copy(quantized.begin(), quantized.end(), integers);
  return scale;
}

void ReferenceBackend::ProjectRow(const double* features, const LinearWeight& linear, double* out) const {
  const int32_t in = linear.spec.in / linear.spec.groups;
  const int32_t outs = linear.spec.out / linear.spec.groups;
  if (linear.spec.precision == Precision::kQ8) {
    std::vector<double> integers(static_cast<size_t>(in));
    double scale = 0;
    for (int32_t o = 0; o < linear.spec.out; ++o) {
      if (o % outs == 0) scale = QuantizeSlice(features + (o / outs) * in, linear.spec, integers.data());
      const double sum = Dot(integers.data(), linear.weight.get() + int64_t{o} * in, in);
      out[o] = sum * scale * linear.scale[o] + linear.bias[o];
    }
    return;
  }
  for (int32_t o = 0; o < linear.spec.out; ++o) {
    const double* slice = features + (o / outs) * in;
    out[o] = Dot(slice, linear.weight.get() + int64_t{o} * in, in) + linear.bias[o];
  }
}

void ReferenceBackend::NormRow(const double* x, const Norm& norm, double* out) const {
  const Matrix weight = View(norm.weight);
  const Matrix bias = View(norm.bias);
  const int32_t width = weight.cols;
  double mean = 0;
  for (int32_t c = 0; c < width; ++c) mean += x[c] / width;
  double variance = 0;
  for (int32_t c = 0; c < width; ++c) variance += (x[c] - mean) * (x[c] - mean) / width;
  const double inverse = 1 / std::sqrt(variance + norm.eps);
  for (int32_t c = 0; c < width; ++c) out[c] = (x[c] - mean) * inverse * weight(0, c) + bias(0, c);
}

void ReferenceBackend::Linear(Tensor x, Weight weight, Activation activation, Tensor out) {
  CheckLinear(x, weight, out);
  if (failed_) return;
  const Matrix in = View(x);
  const Matrix y = View(out);
  for (int32_t r = 0; r < y.rows; ++r) {
    ProjectRow(&in(r, 0), memory_.linear(weight), &y(r, 0));
    for (int32_t c = 0; c < y.cols; ++c) y(r, c) = reference::Activate(y(r, c), activation);
  }
}

void ReferenceBackend::LinearAddNorm(Tensor x, Weight weight, Tensor residual, const Norm& norm, Tensor out) {
  CheckLinear(x, weight, out);
  CheckShape(residual, out.rows, out.cols);
  CheckNorm(norm, out.cols);
  PERUSE_CHECK(!Overlap(residual, out));
  if (failed_) return;
  const Matrix in = View(x);
  const Matrix skip = View(residual);
  const Matrix y = View(out);
  std::vector<double> sum(static_cast<size_t>(y.cols));
  for (int32_t r = 0; r < y.rows; ++r) {
    ProjectRow(&in(r, 0), memory_.linear(weight), sum.data());
    for (int32_t c = 0; c < y.cols; ++c) sum[c] += skip(r, c);
    NormRow(sum.data(), norm, &y(r, 0));
  }
}

void ReferenceBackend::LayerNorm(Tensor x, const Norm& norm, Tensor out) {
  CheckNorm(norm, x.cols);
  CheckOutput(out, x.rows, x.cols, {x});
  if (failed_) return;
  for (int32_t r = 0; r < x.rows; ++r) NormRow(&View(x)(r, 0), norm, &View(out)(r, 0));
}

void ReferenceBackend::AddNorm(Tensor x, Tensor y, const Norm& norm, Tensor out) {
  CheckNorm(norm, x.cols);
  CheckShape(y, x.rows, x.cols);
  CheckOutput(out, x.rows, x.cols, {x, y});
  if (failed_) return;
  std::vector<double> sum(static_cast<size_t>(x.cols));
  for (int32_t r = 0; r < x.rows; ++r) {
    for (int32_t c = 0; c < x.cols; ++c) sum[c] = View(x)(r, c) + View(y)(r, c);
    NormRow(sum.data(), norm, &View(out)(r, 0));
  }
}

// ---- Attention ----------------------------------------------------------------------------------------------

void ReferenceBackend::Attention(const AttentionArgs& args, const RaggedBatch& batch, Tensor out) {
  DisentangledAttention(args, RelativePositions(), batch, out);
}

void ReferenceBackend::ScoreRow(const AttentionArgs& args, const RelativePositions& positions, int32_t head,
                                int32_t start, int32_t i, std::span<double> scores) const {
  const int32_t head_dim = args.query.cols / args.heads;
  const int32_t column = head * head_dim;
  const double* query = &View(args.query)(start + i, column);
  for (int32_t j = 0; j < static_cast<int32_t>(scores.size()); ++j) {
    const double* key = &View(args.key)(start + j, column);
    double score = Dot(query, key, head_dim);
    if (positions.position_key.valid()) {
      const int32_t slot = positions.slots[i - j + positions.reach - 1];
      score += Dot(query, &View(positions.position_key)(slot, column), head_dim);
    }
    if (positions.position_query.valid()) {
      const int32_t slot = positions.slots[i - j + positions.reach - 1];
      score += Dot(key, &View(positions.position_query)(slot, column), head_dim);
    }
    scores[j] = score * args.scale;
  }
}

void ReferenceBackend::DisentangledAttention(const AttentionArgs& args, const RelativePositions& positions,
                                             const RaggedBatch& batch, Tensor out) {
  CheckAttention(args, batch, out);
  CheckPositions(args, positions, batch);
  if (failed_) return;
  const Matrix value = View(args.value);
  const Matrix y = View(out);
  const int32_t head_dim = args.query.cols / args.heads;
  for (int32_t s = 0; s < batch.sequences(); ++s) {
    const int32_t start = batch.start(s);
    const int32_t length = batch.length(s);
    std::vector<double> weights(static_cast<size_t>(length));
    for (int32_t h = 0; h < args.heads; ++h) {
      for (int32_t i = 0; i < length; ++i) {
        ScoreRow(args, positions, h, start, i, weights);
        reference::Softmax(weights);
        for (int32_t c = h * head_dim; c < (h + 1) * head_dim; ++c) {
          double sum = 0;
          for (int32_t j = 0; j < length; ++j) sum += weights[j] * value(start + j, c);
          y(start + i, c) = sum;
        }
        if (!args.probabilities.valid()) continue;
        const Matrix probabilities = View(args.probabilities);
        const int64_t row = int64_t{start} * args.heads + int64_t{h} * length + i;
        for (int32_t j = 0; j < batch.longest(); ++j) probabilities(row, j) = j < length ? weights[j] : 0;
      }
    }
  }
}

// ---- Convolutions -------------------------------------------------------------------------------------------

// Calls visit(t, tap, source) for every row t and tap whose source row t + tap - (taps - 1) / 2 is in t's sequence.
template <typename Visit>
void ForEachTap(const RaggedBatch& batch, int32_t taps, Visit visit) {
  for (int32_t s = 0; s < batch.sequences(); ++s) {
    const int32_t end = batch.start(s) + batch.length(s);
    for (int32_t t = batch.start(s); t < end; ++t) {
      for (int32_t tap = 0; tap < taps; ++tap) {
        const int32_t source = t + tap - (taps - 1) / 2;
        if (source >= batch.start(s) && source < end) visit(t, tap, source);
      }
    }
  }
}

void Fill(const Matrix& matrix, double value) {
  for (int32_t r = 0; r < matrix.rows; ++r) {
    for (int32_t c = 0; c < matrix.cols; ++c) matrix(r, c) = value;
  }
}

void ReferenceBackend::DepthwiseConv(Tensor x, Tensor taps, const RaggedBatch& batch, Tensor out) {
  CheckDepthwiseConv(x, taps, batch, out);
  if (failed_) return;
  const Matrix in = View(x);
  const Matrix kernel = View(taps);
  const Matrix y = View(out);
  Fill(y, 0);
  ForEachTap(batch, taps.rows, [&](int32_t t, int32_t tap, int32_t source) {
    for (int32_t c = 0; c < y.cols; ++c) y(t, c) += kernel(tap, c) * in(source, c);
  });
}

void ReferenceBackend::SpanConv(Tensor logits, Tensor values, int32_t heads, const RaggedBatch& batch, Tensor out,
                                Tensor kernels) {
  CheckSpanConv(logits, values, heads, batch, out, kernels);
  if (failed_) return;
  const int32_t taps = logits.cols / heads;
  const int32_t head_dim = values.cols / heads;
  const Matrix in = View(logits);
  std::vector<double> weights(static_cast<size_t>(int64_t{in.rows} * in.cols));  // [rows, heads, taps]
  for (int32_t r = 0; r < in.rows; ++r) {
    for (int32_t h = 0; h < heads; ++h) {
      double* kernel = weights.data() + (int64_t{r} * heads + h) * taps;
      for (int32_t j = 0; j < taps; ++j) kernel[j] = in(r, h * taps + j);
      reference::Softmax({kernel, static_cast<size_t>(taps)});
    }
  }
  const Matrix source_values = View(values);
  const Matrix y = View(out);
  Fill(y, 0);
  ForEachTap(batch, taps, [&](int32_t t, int32_t tap, int32_t source) {
    for (int32_t c = 0; c < y.cols; ++c) {
      y(t, c) += weights[(int64_t{t} * heads + c / head_dim) * taps + tap] * source_values(source, c);
    }
  });
  if (!kernels.valid()) return;
  const Matrix softmax = View(kernels);
  for (int32_t r = 0; r < in.rows; ++r) {
    for (int32_t c = 0; c < in.cols; ++c) softmax(r, c) = weights[int64_t{r} * in.cols + c];
  }
}

void ReferenceBackend::Conv1d(Tensor x, Weight weight, int32_t kernel_size, Activation activation,
                              const RaggedBatch& batch, Tensor out) {
  CheckConv1d(x, weight, kernel_size, batch, out);
  if (failed_) return;
  const Matrix in = View(x);
  const Matrix y = View(out);
  const int32_t width = in.cols / weight.groups;
  // The inputs that each token sees, [groups, kernel_size, width], zero outside its sequence: a linear's row.
  std::vector<double> windows(static_cast<size_t>(int64_t{x.rows} * weight.in));
  ForEachTap(batch, kernel_size, [&](int32_t t, int32_t tap, int32_t source) {
    for (int32_t c = 0; c < in.cols; ++c) {
      windows[int64_t{t} * weight.in + (int64_t{c / width} * kernel_size + tap) * width + c % width] = in(source, c);
    }
  });
  for (int32_t r = 0; r < y.rows; ++r) {
    ProjectRow(windows.data() + int64_t{r} * weight.in, memory_.linear(weight), &y(r, 0));
    for (int32_t o = 0; o < y.cols; ++o) y(r, o) = reference::Activate(y(r, o), activation);
  }
}

// ---- Elementwise --------------------------------------------------------------------------------------------

void ReferenceBackend::Multiply(Tensor x, Tensor y, Tensor out) {
  CheckShape(y, x.rows, x.cols);
  CheckOutput(out, x.rows, x.cols, {x, y});
  if (failed_) return;
  for (int32_t r = 0; r < x.rows; ++r) {
    for (int32_t c = 0; c < x.cols; ++c) View(out)(r, c) = View(x)(r, c) * View(y)(r, c);
  }
}

void ReferenceBackend::Add(Tensor x, Tensor y, Tensor out) {
  CheckShape(y, y.rows == 1 ? 1 : x.rows, x.cols);
  CheckOutput(out, x.rows, x.cols, {x, y});
  if (failed_) return;
  for (int32_t r = 0; r < x.rows; ++r) {
    for (int32_t c = 0; c < x.cols; ++c) View(out)(r, c) = View(x)(r, c) + View(y)(y.rows == 1 ? 0 : r, c);
  }
}

void ReferenceBackend::Activate(Tensor x, Activation activation, Tensor out) {
  CheckOutput(out, x.rows, x.cols, {x});
  if (failed_) return;
  for (int32_t r = 0; r < x.rows; ++r) {
    for (int32_t c = 0; c < x.cols; ++c) View(out)(r, c) = reference::Activate(View(x)(r, c), activation);
  }
}

void ReferenceBackend::SelectRows(Tensor x, std::span<const int32_t> rows, Tensor out) {
  CheckOutput(out, static_cast<int32_t>(rows.size()), x.cols, {x});
  if (failed_) return;
  for (size_t r = 0; r < rows.size(); ++r) {
    PERUSE_CHECK(rows[r] >= 0 && rows[r] < x.rows);
    for (int32_t c = 0; c < x.cols; ++c) View(out)(static_cast<int64_t>(r), c) = View(x)(rows[r], c);
  }
}

}  // namespace

std::unique_ptr<Backend> CreateReferenceBackend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace peruse

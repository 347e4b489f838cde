#include "core/backend/reference/reference_backend.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "core/backend/plan_run.h"
#include "core/ops/reference.h"

namespace peruse {
namespace {

using ops::LinearValues;
using ops::Matrix;

constexpr int64_t kDouble = sizeof(double);

std::unique_ptr<double[]> AllocateDoubles(int64_t count, double value) {
  constexpr int64_t kLargest = std::min<int64_t>(std::numeric_limits<ptrdiff_t>::max(), int64_t{1} << 40);
  if (count > kLargest / kDouble) return nullptr;
  std::unique_ptr<double[]> values(new (std::nothrow) double[static_cast<size_t>(count)]);
  if (values) std::fill(values.get(), values.get() + count, value);
  return values;
}

int64_t LinearBytes(const LinearSpec& spec) { return int64_t{spec.out} * (spec.in / spec.groups + 1) * kDouble; }

class NaiveBackend final : public ReferenceBackend, public PlanRun {
 public:
  std::string_view name() const override { return "reference"; }

  Result<Weight> CreateLinear(const LinearSpec& spec) override;
  Status WriteRows(Weight weight, int32_t first_row, const EncodedRows& rows) override;
  Status WriteBias(Weight weight, int32_t first, std::span<const float> values) override;
  void FreeLinear(Weight weight) override;
  Result<Tensor> CreateConstant(int32_t rows, int32_t cols) override;
  Status WriteConstant(Tensor constant, int32_t first_row, std::span<const float> rows) override;
  int64_t WeightBytes() const override { return weight_bytes_; }

  Status Run(const Plan& plan, const Weights& weights, const RunInputs& inputs,
             std::span<FloatBuffer> results) override;
  std::vector<double> ErrorBound(const Op& op, Value result) const override {
    return std::visit([&](const auto& o) { return Bound(o, result, numbers_); }, op);
  }

  template <typename AnyOp>
  Status Compute(const AnyOp& op) {
    ops::Compute(op, numbers_);
    return OkStatus();
  }
  Status Download(Tensor x, std::span<float> destination) const;

 private:
  LinearValues& linear(Weight weight) {
    PERUSE_CHECK(weight.valid() && weight.id < static_cast<int32_t>(linears_.size()));
    PERUSE_CHECK(linears_[static_cast<size_t>(weight.id)]->weight != nullptr);
    return *linears_[static_cast<size_t>(weight.id)];
  }
  Matrix View(Tensor x) const;

  std::vector<std::unique_ptr<LinearValues>> linears_;
  std::vector<std::unique_ptr<double[]>> constants_;
  std::vector<std::unique_ptr<double[]>> slots_;
  int64_t weight_bytes_ = 0;
  ops::Numbers numbers_;
};

template <typename AnyOp>
Status Run(NaiveBackend& backend, const AnyOp& op) {
  return backend.Compute(op);
}

Result<Weight> NaiveBackend::CreateLinear(const LinearSpec& spec) {
  PERUSE_RETURN_IF_ERROR(CheckSpec(spec));
  const int64_t scales = std::max<int64_t>(FormatOf(spec.precision).RowScales(spec.in / spec.groups), 1) * spec.out;
  auto values =
      std::make_unique<LinearValues>(LinearValues{spec, AllocateDoubles(int64_t{spec.out} * (spec.in / spec.groups), 0),
                                                  AllocateDoubles(spec.out, 0), AllocateDoubles(scales, 0)});
  if (!values->weight || !values->bias || !values->scale) return OutOfMemory("no memory for a linear layer's weights");
  weight_bytes_ += LinearBytes(spec);
  linears_.push_back(std::move(values));
  return Weight{static_cast<int32_t>(linears_.size()) - 1};
}

Status NaiveBackend::WriteRows(Weight weight, int32_t first_row, const EncodedRows& rows) {
  LinearValues& values = linear(weight);
  CheckRows(values.spec, first_row, rows);
  const WeightFormat& format = FormatOf(values.spec.precision);
  const int64_t width = values.spec.in / values.spec.groups;
  const auto row_bytes = static_cast<size_t>(format.RowBytes(width));
  for (size_t i = 0; i < rows.payload.size() / row_bytes; ++i) {
    double* const row = values.weight.get() + (first_row + static_cast<int64_t>(i)) * width;
    format.Decode(rows.payload.subspan(i * row_bytes, row_bytes), {row, static_cast<size_t>(width)});
  }
  std::copy(rows.scales.begin(), rows.scales.end(), values.scale.get() + first_row * format.RowScales(width));
  return OkStatus();
}

Status NaiveBackend::WriteBias(Weight weight, int32_t first, std::span<const float> values) {
  PERUSE_CHECK(first >= 0 && first + static_cast<int64_t>(values.size()) <= linear(weight).spec.out);
  std::copy(values.begin(), values.end(), linear(weight).bias.get() + first);
  return OkStatus();
}

void NaiveBackend::FreeLinear(Weight weight) {
  weight_bytes_ -= LinearBytes(linear(weight).spec);
  linear(weight) = {};
}

Result<Tensor> NaiveBackend::CreateConstant(int32_t rows, int32_t cols) {
  auto values = AllocateDoubles(int64_t{rows} * cols, 0);
  if (!values) return OutOfMemory("no memory for a constant");
  constants_.push_back(std::move(values));
  weight_bytes_ += int64_t{rows} * cols * kDouble;
  return Tensor{kFirstConstant + static_cast<int32_t>(constants_.size()) - 1, rows, cols, cols, 0};
}

Status NaiveBackend::WriteConstant(Tensor constant, int32_t first_row, std::span<const float> rows) {
  const Matrix out = View(constant);
  const int64_t count = static_cast<int64_t>(rows.size());
  PERUSE_CHECK(first_row >= 0 && count % out.cols == 0 && first_row + count / out.cols <= out.rows);
  for (int64_t i = 0; i < count; ++i) out(first_row + i / out.cols, i % out.cols) = rows[static_cast<size_t>(i)];
  return OkStatus();
}

Matrix NaiveBackend::View(Tensor x) const {
  if (!x.valid()) return {};
  const bool constant = x.buffer >= kFirstConstant;
  const auto& buffers = constant ? constants_ : slots_;
  return {buffers[static_cast<size_t>(constant ? x.buffer - kFirstConstant : x.buffer)].get() + x.first, x.rows, x.cols,
          x.stride};
}

Status NaiveBackend::Run(const Plan& plan, const Weights& weights, const RunInputs& inputs,
                         std::span<FloatBuffer> results) {
  Begin(plan, weights, inputs);
  slots_.clear();
  for (const PlanSlot& slot : plan.slots) {
    slots_.push_back(
        AllocateDoubles(int64_t{size(slot.rows)} * size(slot.cols), std::numeric_limits<double>::quiet_NaN()));
    if (!slots_.back()) return OutOfMemory("no memory for the run's workspace");
  }
  numbers_ = {.tables = tables(), .indices = inputs.indices, .inputs = inputs.matrices, .batch = &inputs.batch};
  for (int32_t id = 0; id < static_cast<int32_t>(plan.program.values.size()); ++id) {
    const bool used = plan.slot_of[static_cast<size_t>(id)] >= 0 || plan.program.IsConstant({id});
    numbers_.values.push_back(used ? View(at(Value{id})) : Matrix());
  }
  for (const Weight& weight : weights.linears) {
    numbers_.linears.push_back(weight.valid() ? linears_[static_cast<size_t>(weight.id)].get() : nullptr);
  }
  return RunOperations(*this, observer_, results);
}

Status NaiveBackend::Download(Tensor x, std::span<float> destination) const {
  const Matrix m = View(x);
  for (size_t i = 0; i < destination.size(); ++i) {
    const int64_t index = static_cast<int64_t>(i);
    destination[i] = static_cast<float>(m(index / m.cols, index % m.cols));
  }
  return OkStatus();
}

}  // namespace

std::unique_ptr<ReferenceBackend> CreateReferenceBackend() { return std::make_unique<NaiveBackend>(); }

}  // namespace peruse

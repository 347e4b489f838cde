#include "tests/native/ops/gradient_case.h"

#include <algorithm>
#include <utility>

namespace peruse::testing {

namespace {

template <typename AnyOp>
constexpr bool kHasGradient =
    requires(const AnyOp& op, const ops::Numbers& n, const ops::Gradients& g) { Gradient(op, n, g); };

}  // namespace

bool HasGradient(const OpCase& c) {
  if (c.q8) return false;
  const GradientCase made(c);
  const Op& op = made.op();
  if (!std::visit([](const auto& o) { return kHasGradient<std::decay_t<decltype(o)>>; }, op)) return false;
  if (const auto* linear = std::get_if<ops::Linear>(&op)) return linear->plain() && !linear->some_outputs;
  if (const auto* product = std::get_if<ops::Multiply>(&op)) return product->activation == Activation::kNone;
  if (const auto* attention = std::get_if<ops::Attention>(&op)) return !attention->sinks.valid();
  if (const auto* conv = std::get_if<ops::Conv1d>(&op)) return conv->activation == Activation::kNone;
  if (const auto* conv = std::get_if<ops::SpanConv>(&op)) return !conv->weight.valid();
  return true;
}

GradientCase::GradientCase(const OpCase& c, bool extra) : case_(c, nullptr) {
  c.write(case_, c);
  for (const int32_t length : c.lengths) batch_.Append(length);
  if (c.keys > 0) batch_.SetKeyLimit(c.keys);
  sizes_[Domain::kTokens] = batch_.rows();
  sizes_[Domain::kSequences] = batch_.sequences();
  sizes_[Domain::kLongest] = batch_.longest();
  for (const auto& index : case_.indices_) indices_.emplace_back(index);
  for (const auto& input : case_.inputs_) inputs_.emplace_back(input);
  if (!indices_.empty()) sizes_[Domain::kChosen] = static_cast<int64_t>(indices_[0].size());
  numbers_.indices = indices_;
  numbers_.inputs = inputs_;
  numbers_.batch = &batch_;
  PlaceValues();
  PlaceLinears();
  PlaceTables();
  for (const Value result : case_.results_) {
    const ops::Matrix& values = numbers_(result);
    const ops::Matrix factors = New(values.rows, values.cols);
    for (int32_t r = 0; r < factors.rows; ++r) {
      for (int32_t col = 0; col < factors.cols; ++col) {
        const double factor = static_cast<int32_t>(random_() % 2001) / 1000.0 - 1;
        factors(r, col) = extra || factors_.empty() ? factor : 0;
      }
    }
    factors_.push_back(factors);
  }
}

ops::Matrix GradientCase::New(int32_t rows, int32_t cols) {
  memory_.emplace_back(static_cast<size_t>(rows) * static_cast<size_t>(cols));
  return {memory_.back().data(), rows, cols, cols};
}

void GradientCase::PlaceValues() {
  const Program& program = case_.program_;
  for (const ValueInfo& info : program.values) {
    const auto rows = static_cast<int32_t>(sizes_(info.rows));
    const auto cols = static_cast<int32_t>(sizes_(info.cols));
    if (info.base >= 0) {
      const auto view = [&](const ops::Matrix& base) {
        return ops::Matrix{base.data + info.first_col, rows, cols, base.stride};
      };
      numbers_.values.push_back(view(numbers_.values[static_cast<size_t>(info.base)]));
      gradients_.values.push_back(view(gradients_.values[static_cast<size_t>(info.base)]));
      continue;
    }
    numbers_.values.push_back(New(rows, cols));
    gradients_.values.push_back(New(rows, cols));
    if (info.constant < 0) continue;
    const HostMatrix& constant = case_.constants_[static_cast<size_t>(info.constant)];
    std::copy(constant.values.begin(), constant.values.end(), numbers_.values.back().data);
  }
  for (size_t i = 0; i + 1 < program.ops.size(); ++i) Compute(std::get<ops::Input>(program.ops[i]), numbers_);
  if (std::holds_alternative<ops::Activate>(op())) TameOperands();
  for (const Value* value : InputsOf(op())) {
    operands_.push_back({"operand " + std::to_string(operands_.size()), numbers_(*value), gradients_(*value), {}, -1});
  }
}

// Huge values would leave differences without correct digits, and corners do not have a derivative.
void GradientCase::TameOperands() {
  for (const Value* value : InputsOf(op())) {
    const ops::Matrix& x = numbers_(*value);
    for (int32_t r = 0; r < x.rows; ++r) {
      for (int32_t c = 0; c < x.cols; ++c) x(r, c) = std::clamp(x(r, c), -20.0, 20.0) + 0.00137;
    }
  }
}

void GradientCase::PlaceLinears() {
  for (size_t i = 0; i < case_.linears_.size(); ++i) {
    const auto& [weight, bias] = case_.linears_[i];
    auto values = std::make_unique<ops::LinearValues>();
    values->spec = case_.program_.linears[i];
    values->weight = std::make_unique<double[]>(weight.values.size());
    values->bias = std::make_unique<double[]>(bias.values.size());
    std::copy(weight.values.begin(), weight.values.end(), values->weight.get());
    std::copy(bias.values.begin(), bias.values.end(), values->bias.get());
    const ops::Matrix weight_gradient = New(weight.rows, weight.cols);
    const ops::Matrix bias_gradient = New(1, bias.cols);
    operands_.push_back(
        {"weight", {values->weight.get(), weight.rows, weight.cols, weight.cols}, weight_gradient, {}, -1});
    operands_.push_back({"bias", {values->bias.get(), 1, bias.cols, bias.cols}, bias_gradient, {}, -1});
    gradients_.linears.push_back({weight_gradient.data, bias_gradient.data});
    numbers_.linears.push_back(values.get());
    linears_.push_back(std::move(values));
  }
}

void GradientCase::PlaceTables() {
  tables_.resize(case_.tables_.size());
  for (size_t i = 0; i < tables_.size(); ++i) {
    const HostMatrix& table = case_.tables_[i];
    PERUSE_CHECK(tables_[i].Allocate(table.rows, table.cols, DType::kF32).ok());
    const ops::Matrix values = New(table.rows, table.cols);
    std::copy(table.values.begin(), table.values.end(), values.data);
    gradients_.tables.push_back(New(table.rows, table.cols));
    operands_.push_back({"table", values, gradients_.tables.back(), table.values, static_cast<int32_t>(i)});
  }
  numbers_.tables = tables_;
}

double GradientCase::Loss() {
  for (Operand& operand : operands_) {
    if (operand.table_id < 0) continue;
    for (size_t i = 0; i < operand.table.size(); ++i) operand.table[i] = static_cast<float>(operand.values.data[i]);
    PERUSE_CHECK(tables_[static_cast<size_t>(operand.table_id)].WriteRows(0, operand.table).ok());
  }
  std::visit([&](const auto& o) { Compute(o, numbers_); }, op());
  double loss = 0;
  for (size_t i = 0; i < factors_.size(); ++i) {
    const ops::Matrix& result = numbers_(case_.results_[i]);
    for (int32_t r = 0; r < result.rows; ++r) loss += ops::Dot(&result(r, 0), &factors_[i](r, 0), result.cols);
  }
  return loss;
}

void GradientCase::Differentiate() {
  for (size_t i = 0; i < factors_.size(); ++i) {
    const ops::Matrix& gradient = gradients_(case_.results_[i]);
    for (int32_t r = 0; r < gradient.rows; ++r) std::copy_n(&factors_[i](r, 0), gradient.cols, &gradient(r, 0));
  }
  std::visit(
      [&]<typename AnyOp>(const AnyOp& o) {
        if constexpr (kHasGradient<AnyOp>) Gradient(o, numbers_, gradients_);
      },
      op());
}

}  // namespace peruse::testing

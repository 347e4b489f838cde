#include <algorithm>
#include <utility>

#include "core/train/ops/step.h"

namespace peruse::train {

// Finds the hidden states to which dropout applies: those that families and heads request (Build::Dropped) and, independently for each
// layer, the table of relative positions (transformers' pos_dropout). Dropout of attention probabilities is part of the attention
// operation.
void Step::FindDropout() {
  const Program& program = *program_;
  drops_.assign(program.ops.size(), Drops::kNothing);
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    const Value result = **OutputsOf(op).begin();
    if (std::find(program.dropped.begin(), program.dropped.end(), result) != program.dropped.end()) {
      drops_[i] = Drops::kResult;
    }
    const auto* linear = std::get_if<ops::Linear>(&op);
    if (linear == nullptr) continue;
    const Extent rows = program.info(linear->x).rows;
    if (rows.domain == Domain::kOne && rows.factor > 1) {
      drops_[i] = Drops::kOperand;
      operands_.push_back({.op = i, .x = linear->x});
    }
  }
}

std::vector<std::array<int64_t, 2>> Step::dropped() const {
  std::vector<std::array<int64_t, 2>> shapes;
  for (size_t i = 0; i < drops_.size(); ++i) {
    if (drops_[i] == Drops::kNothing) continue;
    const Op& op = program_->ops[i];
    const Value value = drops_[i] == Drops::kResult ? **OutputsOf(op).begin() : std::get<ops::Linear>(op).x;
    const ValueInfo& info = program_->info(value);
    shapes.push_back({sizes_(info.rows), sizes_(info.cols)});
  }
  return shapes;
}

void Step::DropRows(size_t op, Drops what, const Block& block) const {
  if (drops_[op] != what || options_.dropout == 0) return;
  const Dropout dropout = {options_.dropout, options_.seed, options_.number, options_.part};
  workers().ForPieces(block.rows, 1, 8 * block.cols, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) {
      dropout.Apply(static_cast<uint32_t>(op), static_cast<uint32_t>(r), block.row(r), block.cols);
    }
  });
}

Step::DroppedOperand* Step::OperandOf(size_t op) {
  if (drops_[op] != Drops::kOperand || options_.dropout == 0) return nullptr;
  const auto is_its = [op](const DroppedOperand& operand) { return operand.op == op; };
  return &*std::find_if(operands_.begin(), operands_.end(), is_its);
}

void Step::Fill(const DroppedOperand& operand) const {
  const Block x = value(operand.x);
  for (int64_t r = 0; r < x.rows; ++r) std::copy_n(x.row(r), x.cols, operand.values.row(r));
  DropRows(operand.op, Drops::kOperand, operand.values);
}

// Swaps the operand with its copy, and their gradients. The copy's gradient is initially zero.
void Step::Exchange(DroppedOperand& operand) {
  const auto x = static_cast<size_t>(operand.x.id);
  std::swap(values_[x], operand.values);
  if (!operand.gradient) return;
  std::swap(gradients_[x], operand.gradient);
  std::swap(started_[x], operand.started);
}

void Step::Return(DroppedOperand& operand) {
  if (!operand.gradient || operand.started == 0) return;
  DropRows(operand.op, Drops::kOperand, operand.gradient);
  const Block to = Accumulator(operand.x);
  for (int64_t r = 0; r < to.rows; ++r) {
    const float* from = operand.gradient.row(r);
    std::transform(from, from + to.cols, to.row(r), to.row(r), [](float a, float b) { return a + b; });
  }
  operand.started = 0;
}

}  // namespace peruse::train

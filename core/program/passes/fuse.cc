#include <utility>
#include <vector>

#include "core/program/passes/passes.h"
#include "core/program/passes/uses.h"

namespace peruse {
namespace {

class Fuser {
 public:
  explicit Fuser(Program& program) : program_(program), uses_(program), gone_(program.ops.size()) {}

  void Run() {
    for (Op& op : program_.ops) {
      const Op before = op;
      std::visit([&](const auto& o) { Visit(o, op); }, before);
    }
    std::vector<Op> ops;
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      if (!gone_[i]) ops.push_back(std::move(program_.ops[i]));
    }
    program_.ops = std::move(ops);
  }

 private:
  template <typename AnyOp>
  void Visit(const AnyOp&, Op&) {}

  void Visit(const ops::Activate& activate, Op& op) {
    if (ops::Linear linear; TakePlain(activate.x, &linear)) {
      linear.activation = activate.activation;
      linear.out = activate.out;
      op = linear;
    } else if (const auto* conv = uses_.OnlyFor<ops::Conv1d>(activate.x)) {
      ops::Conv1d activated = *conv;
      Remove(activate.x);
      activated.activation = activate.activation;
      activated.out = activate.out;
      op = activated;
    }
  }

  void Visit(const ops::Multiply& product, Op& op) {
    ops::Linear linear;
    if (program_.info(product.x).rows != program_.info(product.y).rows) return;
    if (TakePlain(product.x, &linear)) {
      linear.factor = product.y;
    } else if (TakePlain(product.y, &linear)) {
      linear.factor = product.x;
    } else if (const auto* activate = uses_.OnlyFor<ops::Activate>(product.x)) {
      const Value x = activate->x;
      const Activation activation = activate->activation;
      Remove(product.x);
      op = ops::Multiply{x, product.y, product.out, activation};
      return;
    } else {
      return;
    }
    linear.out = product.out;
    op = linear;
  }

  void Visit(const ops::LayerNorm& norm, Op& op) {
    const auto* found = uses_.OnlyFor<ops::Add>(norm.x);
    if (found == nullptr || norm.residual.valid()) return;
    const ops::Add add = *found;
    if (program_.info(add.x).rows != program_.info(add.y).rows) return;
    Remove(norm.x);
    ops::Linear linear;
    if (TakePlain(add.x, &linear)) {
      linear.residual = add.y;
    } else if (TakePlain(add.y, &linear)) {
      linear.residual = add.x;
    } else {
      op = ops::LayerNorm{.x = add.x, .residual = add.y, .norm = norm.norm, .out = norm.out};
      return;
    }
    linear.norm = norm.norm;
    linear.out = norm.out;
    op = linear;
  }

  void Visit(const ops::SpanConv& conv, Op& op) {
    ops::Linear linear;
    if (conv.weight.valid() || !TakePlain(conv.logits, &linear)) return;
    ops::SpanConv fused = conv;
    fused.logits = linear.x;
    fused.weight = linear.weight;
    op = fused;
  }

  // If `value` is the result of an unfused, whole linear layer and has only one reader, removes the layer and returns it. Otherwise returns
  // false.
  bool TakePlain(Value value, ops::Linear* linear) {
    const auto* found = uses_.OnlyFor<ops::Linear>(value);
    if (found == nullptr || !found->plain() || found->some_outputs) return false;
    *linear = *found;
    Remove(value);
    return true;
  }
  void Remove(Value value) { gone_[static_cast<size_t>(uses_.producer(value))] = true; }

  Program& program_;
  const Uses uses_;  // computed from the original program: fusing does not change producers or readers
  std::vector<bool> gone_;
};

}  // namespace

Program Fuse(Program program) {
  Fuser(program).Run();
  return program;
}

}  // namespace peruse

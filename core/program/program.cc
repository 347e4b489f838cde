#include "core/program/program.h"

#include "core/ops/shapes.h"

namespace peruse {
namespace {

const char* NameOf(OutputKind kind) {
  switch (kind) {
    case OutputKind::kLogits:
      return "logits";
    case OutputKind::kLastHiddenState:
      return "last_hidden_state";
    case OutputKind::kLabelVectors:
      return "label_vectors";
    case OutputKind::kHidden:
      return "hidden";
    case OutputKind::kAttention:
      return "attention";
    case OutputKind::kSpanKernel:
      return "span_kernel";
    case OutputKind::kQuery:
      return "query";
    case OutputKind::kKey:
      return "key";
    case OutputKind::kPositionKey:
      return "position_key";
    case OutputKind::kPositionQuery:
      return "position_query";
  }
  return "";
}

}  // namespace

ValueRefs InputsOf(Op& op) {
  ValueRefs refs;
  std::visit(
      [&](auto& o) {
        for (Value* value : o.Inputs()) refs.Append(value);
      },
      op);
  return refs;
}

ValueRefs OutputsOf(Op& op) {
  ValueRefs refs;
  std::visit(
      [&](auto& o) {
        for (Value* value : o.Outputs()) refs.Append(value);
      },
      op);
  return refs;
}

namespace {

bool Overlap(const Program& program, Value a, Value b) {
  const ValueInfo& x = program.info(a);
  const ValueInfo& y = program.info(b);
  return program.Root(a) == program.Root(b) && x.first_col < y.first_col + y.cols.factor &&
         y.first_col < x.first_col + x.cols.factor;
}

}  // namespace

bool IsSound(const Program& program) {
  const ops::Shapes shapes = {program.values, program.linears, program.indices};
  for (const Op& op : program.ops) {
    if (!std::visit([&](const auto& o) { return Fits(o, shapes); }, op)) return false;
    for (const Value* result : OutputsOf(op)) {
      for (const Value* operand : InputsOf(op)) {
        if (Overlap(program, *result, *operand)) return false;
      }
    }
  }
  return true;
}

LinearId LinearOf(const Op& op) {
  return std::visit(
      [](const auto& o) {
        if constexpr (requires { LinearId{o.weight}; }) {
          return LinearId{o.weight};
        } else {
          return LinearId();
        }
      },
      op);
}

std::string NameOf(OutputId id) {
  const bool of_layer = id.kind >= OutputKind::kHidden;
  return of_layer ? std::string(NameOf(id.kind)) + "." + std::to_string(id.layer) : NameOf(id.kind);
}

}  // namespace peruse

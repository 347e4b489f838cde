#include <string>

#include "core/formats/weight_format.h"
#include "core/program/program.h"

namespace peruse {
namespace {

const char* NameOf(Domain domain) {
  switch (domain) {
    case Domain::kOne:
      return "";
    case Domain::kTokens:
      return "tokens";
    case Domain::kSequences:
      return "sequences";
    case Domain::kLongest:
      return "longest";
    case Domain::kChosen:
      return "chosen";
    case Domain::kWords:
      return "words";
    case Domain::kLabels:
      return "labels";
    case Domain::kPairs:
      return "pairs";
  }
  return "";
}

std::string Text(Extent extent) {
  if (extent.domain == Domain::kOne) return std::to_string(extent.factor);
  if (extent.factor == 1) return NameOf(extent.domain);
  return std::to_string(extent.factor) + " " + NameOf(extent.domain);
}

std::string Text(const Program& program, Value value) {
  const ValueInfo& info = program.info(value);
  const ValueInfo& root = program.info(program.Root(value));
  std::string text =
      root.constant >= 0 ? "#" + std::to_string(root.constant) : "%" + std::to_string(program.Root(value).id);
  if (info.base < 0) return text;
  return text + "[" + std::to_string(info.first_col) + ":" + std::to_string(info.first_col + info.cols.factor) + "]";
}

std::string Text(const Program& program, LinearId id) {
  const LinearSpec& spec = program.linears[static_cast<size_t>(id.id)];
  std::string text = "W" + std::to_string(id.id) + " [" + std::to_string(spec.in) + " -> " + std::to_string(spec.out);
  if (spec.groups > 1) text += ", " + std::to_string(spec.groups) + " groups";
  return text + ", " + FormatOf(spec.precision).name() + "]";
}

template <typename AnyOp>
std::string Details(const AnyOp& op) {
  std::string text;
  if constexpr (requires { op.activation; }) {
    if (op.activation != Activation::kNone) text += std::string(", ") + ActivationName(op.activation);
  }
  if constexpr (requires { op.norm; }) {
    if (op.norm.valid()) text += ", norm";
  }
  if constexpr (requires { op.heads; }) text += ", " + std::to_string(op.heads) + " heads";
  if constexpr (requires { op.kernel_size; }) text += ", " + std::to_string(op.kernel_size) + " taps";
  return text;
}

}  // namespace

std::string Print(const Program& program) {
  std::string text;
  for (const Op& op : program.ops) {
    std::string line;
    for (const Value* value : OutputsOf(op)) line += (line.empty() ? "" : ", ") + Text(program, *value);
    const ValueInfo& first = program.info(**OutputsOf(op).begin());
    line += " [" + Text(first.rows) + ", " + Text(first.cols) + "] = ";
    line += std::visit([](const auto& o) { return std::string(o.kName); }, op);
    for (const Value* value : InputsOf(op)) line += " " + Text(program, *value);
    if (const LinearId weight = LinearOf(op); weight.valid()) line += " " + Text(program, weight);
    line += std::visit([](const auto& o) { return Details(o); }, op);
    text += line + "\n";
  }
  for (const ProgramOutput& output : program.outputs) {
    text += "output " + NameOf(output.id) + " = " + Text(program, output.value) + "\n";
  }
  return text;
}

}  // namespace peruse

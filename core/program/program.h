// A model as data: a list of operations on values, symbolic in the number of rows.
//   Family::Build -> Program -> passes (core/program/passes) -> Plan -> a backend runs it on a batch
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/formats/linear_spec.h"
#include "core/ops/activate.h"
#include "core/ops/add.h"
#include "core/ops/alibi_bias.h"
#include "core/ops/attention.h"
#include "core/ops/concat.h"
#include "core/ops/conv1d.h"
#include "core/ops/cross_attention.h"
#include "core/ops/depthwise_conv.h"
#include "core/ops/embed.h"
#include "core/ops/experts.h"
#include "core/ops/index.h"
#include "core/ops/input.h"
#include "core/ops/layer_norm.h"
#include "core/ops/linear.h"
#include "core/ops/lstm.h"
#include "core/ops/matmul.h"
#include "core/ops/multiply.h"
#include "core/ops/normalize.h"
#include "core/ops/pool_rows.h"
#include "core/ops/rms_norm.h"
#include "core/ops/rotary_angles.h"
#include "core/ops/rotate.h"
#include "core/ops/select_rows.h"
#include "core/ops/span_conv.h"
#include "core/ops/value.h"

namespace peruse {

using Op = std::variant<ops::Input, ops::Embed, ops::Linear, ops::LayerNorm, ops::Activate, ops::Add, ops::Multiply,
                        ops::Attention, ops::DepthwiseConv, ops::SpanConv, ops::Conv1d, ops::SelectRows, ops::Concat,
                        ops::MatMul, ops::Lstm, ops::PoolRows, ops::CrossAttention, ops::Normalize, ops::RotaryAngles,
                        ops::Rotate, ops::AlibiBias, ops::RmsNorm, ops::Experts>;

enum class OutputKind : uint8_t {
  // Outputs of the whole model:
  kLogits,
  kLastHiddenState,  // only for models without a head: [tokens, hidden_size]
  kLabelVectors,     // only for models with a label encoder: one row per text of the batch; each text is a label

  // Outputs of a layer, by its number:
  kHidden,  // [tokens, hidden_size]; layer 0 is the embeddings, layer 1 the encoder's first layer
  // [heads for each token, longest text]; for this kind and those below, layer 0 is the encoder's first layer.
  kAttention,
  kSpanKernel,  // ConvBERT: [tokens, heads * conv_kernel_size]
  // DeBERTa's operands of the three terms of attention scores (core/model/attention_maps.h):
  kQuery,          // [tokens, hidden_size]
  kKey,            // [tokens, hidden_size]
  kPositionKey,    // [slots, hidden_size]
  kPositionQuery,  // [slots, hidden_size]
};

struct OutputId {
  OutputKind kind = OutputKind::kLogits;
  int32_t layer = 0;

  bool operator==(const OutputId&) const = default;
};

inline constexpr OutputId kLogits = {OutputKind::kLogits};
inline constexpr OutputId kLastHiddenState = {OutputKind::kLastHiddenState};
inline constexpr OutputId kLabelVectors = {OutputKind::kLabelVectors};

inline bool IsOfHead(OutputId id) { return id.kind == OutputKind::kLogits || id.kind == OutputKind::kLastHiddenState; }

std::string NameOf(OutputId id);

struct ProgramOutput {
  OutputId id;
  Value value;
};

struct Program {
  std::vector<ValueInfo> values;
  std::vector<Op> ops;  // in execution order
  std::vector<Index> indices;
  std::vector<ProgramOutput> outputs;
  std::vector<LinearSpec> linears;  // indexed by LinearId
  std::vector<Value> dropped;       // dropped out in training, as in transformers (core/train/ops/step.h)
  int32_t tables = 0;
  int32_t constants = 0;

  const ValueInfo& info(Value value) const { return values[static_cast<size_t>(value.id)]; }
  ValueInfo& info(Value value) { return values[static_cast<size_t>(value.id)]; }
  // Returns the value that owns the memory of `value`.
  Value Root(Value value) const { return info(value).base >= 0 ? Value{info(value).base} : value; }
  bool IsConstant(Value value) const { return info(Root(value)).constant >= 0; }
  Value NewValue(Extent rows, Extent cols) {
    values.push_back({rows, cols});
    return {static_cast<int32_t>(values.size()) - 1};
  }
};

// Pointers to an operation's operands, or to its results, without absent ones.
class ValueRefs {
 public:
  void Append(Value* value) {
    if (value->valid()) values_[count_++] = value;
  }
  Value* const* begin() const { return values_.data(); }
  Value* const* end() const { return values_.data() + count_; }

 private:
  std::array<Value*, 6> values_;
  size_t count_ = 0;
};
ValueRefs InputsOf(Op& op);
ValueRefs OutputsOf(Op& op);
inline ValueRefs InputsOf(const Op& op) { return InputsOf(const_cast<Op&>(op)); }
inline ValueRefs OutputsOf(const Op& op) { return OutputsOf(const_cast<Op&>(op)); }

LinearId LinearOf(const Op& op);

inline Reads ReadsOf(const Op& op) {
  return std::visit([](const auto& o) { return o.kReads; }, op);
}

// Returns whether all operands and results have valid shapes (Fits in core/ops), and no result shares memory with an operand.
bool IsSound(const Program& program);

std::string Print(const Program& program);

}  // namespace peruse

#pragma once

#include <cstdint>
#include <string>

namespace peruse {

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
  // DeBERTa's operands of the three terms of attention scores (core/model/attention_terms.h):
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

}  // namespace peruse

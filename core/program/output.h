// Outputs that a caller may request from a program.
#pragma once

#include <cstdint>
#include <string>

namespace peruse {

enum class OutputKind : uint8_t {
  // ---- Of the model -------------------------------------------------------------------------------------------------
  kLogits,           // of the head
  kLastHiddenState,  // without a head: [tokens, hidden_size]
  kLabelVectors,     // with a label encoder: one row per text of the batch, which is a label

  // ---- Of a layer ---------------------------------------------------------------------------------------------------
  kHidden,      // [tokens, hidden_size]; layer 0 is the embeddings, layer 1 the encoder's first layer
  kAttention,   // [heads for each token, longest text]; this and the following kinds count layers from 0
  kSpanKernel,  // ConvBERT: [tokens, heads * conv_kernel_size]
  // DeBERTa: operands of the three terms of its scores (core/model/attention_terms.h).
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

// Whether a run computes the output by default.
inline bool IsOfHead(OutputId id) { return id.kind == OutputKind::kLogits || id.kind == OutputKind::kLastHiddenState; }

// "logits" or "hidden.3", for messages and printed programs.
std::string NameOf(OutputId id);

}  // namespace peruse

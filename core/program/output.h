// What a caller may ask of a program.
#pragma once

#include <cstdint>
#include <string>

namespace peruse {

enum class OutputKind : uint8_t {
  // ---- Of the model -------------------------------------------------------------------------------------------------
  kLogits,           // of the head
  kLastHiddenState,  // of a model without a head: [tokens, hidden_size]
  kLabelVectors,     // of a model with an encoder for labels: a row for each text of the batch, which is a label

  // ---- Of a layer ---------------------------------------------------------------------------------------------------
  kHidden,      // [tokens, hidden_size]; layer 0 is the embeddings, layer 1 the first of the encoder
  kAttention,   // [heads for each token, longest text]; layers from here on begin at 0
  kSpanKernel,  // of ConvBERT: [tokens, heads * conv_kernel_size]
  // Of DeBERTa, what the three terms of its scores are computed from (core/model/attention_terms.h).
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

// Whether a run computes the output if no other is requested.
inline bool IsOfHead(OutputId id) { return id.kind == OutputKind::kLogits || id.kind == OutputKind::kLastHiddenState; }

// For messages and printed programs: "logits", "hidden.3".
std::string NameOf(OutputId id);

}  // namespace peruse

#include "core/program/output.h"

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

std::string NameOf(OutputId id) {
  const bool of_layer = id.kind >= OutputKind::kHidden;
  return of_layer ? std::string(NameOf(id.kind)) + "." + std::to_string(id.layer) : NameOf(id.kind);
}

}  // namespace peruse

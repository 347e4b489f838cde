#include "core/weights/misfits.h"

#include <algorithm>

#include "core/weights/tensor_info.h"

namespace peruse {
std::string Described(const std::string& name, std::span<const int64_t> shape) {
  return name + " " + ShapeString(shape);
}

Status Misfits::ToStatus() const {
  std::string text;
  int left =
      NameList::kMost;  // names that the message may still have: one layer that does not fit has dozens of tensors
  const auto add = [&](const std::string& kind, const NameList& names) {
    if (names.empty()) return;
    text += (text.empty() ? "" : "; ") + kind + ": " + names.Text(left);
    left = std::max(0, left - names.count());
  };
  add("missing", missing);
  add("missing for " + head, missing_head);
  add("of another shape", misshapen);
  add("of a type that weights cannot have", unreadable);
  add("of type int8, which only dtype q8 reads, and only for linear layers and words", int8);
  add("of type uint8 (4 bits), which only dtype q4 reads for words, and q8 and q4 for linear layers", int4);
  if (text.empty()) return OkStatus();
  StatusCode code = StatusCode::kUnsupported;
  if (!misshapen.empty()) code = StatusCode::kShapeMismatch;
  if (!missing_head.empty()) code = StatusCode::kMissingHead;
  if (!missing.empty()) code = StatusCode::kMissingTensor;
  if (code == StatusCode::kMissingHead && misshapen.empty() && unreadable.empty() && int8.empty() && int4.empty()) {
    return Status(code, "the checkpoint has no tensors for " + head + ": " + missing_head.Text());
  }
  return Status(code, "the weights do not fit config.json; tensors " + text);
}

}  // namespace peruse

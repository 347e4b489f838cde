#include "core/weights/misfits.h"

#include "core/weights/tensor_info.h"

namespace peruse {
std::string Described(const std::string& name, std::span<const int64_t> shape) {
  return name + " " + ShapeString(shape);
}

Status Misfits::ToStatus() const {
  std::string text;
  const auto add = [&text](const std::string& sentence) { text += (text.empty() ? "" : "; ") + sentence; };
  if (!missing.empty()) add("missing: " + missing.Text());
  if (!missing_head.empty()) add("missing for " + head + ": " + missing_head.Text());
  if (!misshapen.empty()) add("of another shape: " + misshapen.Text());
  if (!unreadable.empty()) add("of a type that weights cannot have: " + unreadable.Text());
  if (!int8.empty())
    add("of type int8, which only dtype q8 reads, and only for linear layers and words: " + int8.Text());
  if (!int4.empty())
    add("of type uint8 (4 bits), which only dtype q4 reads for words, and q8 and q4 for linear layers: " + int4.Text());
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

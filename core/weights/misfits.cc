#include "core/weights/misfits.h"

#include "core/weights/tensor_info.h"

namespace peruse {
std::string Described(const std::string& name, std::span<const int64_t> shape) {
  return name + " " + ShapeString(shape);
}

Status Misfits::ToStatus() const {
  std::string text;
  int all = 0;
  for (const NameList* names : {&missing, &missing_head, &misshapen, &unreadable, &int8, &int4}) all += names->count();
  // Names at most NameList::kMost tensors: if there are more, those of the first kind, and for other kinds only their number.
  const auto add = [&](const std::string& kind, const NameList& names) {
    if (names.empty()) return;
    const bool named = text.empty() || all <= NameList::kMost;
    text += (text.empty() ? "" : "; ") + kind + ": " + (named ? names.Text() : std::to_string(names.count()));
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

#include "core/weights/tensor_info.h"

#include <limits>

#include "core/base/memory.h"

namespace peruse {

std::string DTypeName(DType dtype) {
  for (const char* name : {"F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL"}) {
    if (ParseDType(name) == dtype) return name;
  }
  return "";
}

std::string ShapeString(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

std::optional<uint64_t> TensorBytes(std::span<const int64_t> shape, int bits) {
  // Checks zero sizes first: [0, huge, huge] is empty and must not overflow.
  for (const int64_t size : shape) {
    if (size == 0) return 0;
  }
  constexpr uint64_t kMaxElements = std::numeric_limits<uint64_t>::max() / 64;
  uint64_t elements = 1;
  for (const int64_t size : shape) {
    if (elements > kMaxElements / static_cast<uint64_t>(size)) return std::nullopt;
    elements *= static_cast<uint64_t>(size);
  }
  const uint64_t total_bits = elements * static_cast<uint64_t>(bits);
  if (total_bits % 8 != 0) return std::nullopt;
  return total_bits / 8;
}

Status EnsureTensorMemory(size_t tensors) {
  constexpr size_t kBytesPerTensor = 1024;  // enough for two lists and two maps of names and shapes
  return EnsureMemory(SaturatingMultiply(tensors, kBytesPerTensor), "the list of the checkpoint's tensors");
}

}  // namespace peruse

// Describes the tensors of a weights file in any format, and the interface that receives them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/tensor/dtype.h"

namespace peruse {

struct TensorInfo {
  std::string name;
  std::string dtype_name;      // as in the file
  std::optional<DType> dtype;  // nullopt for types that models do not use (U16, F8_E4M3, ...)
  std::vector<int64_t> shape;
  // safetensors: byte range from the end of the header. PyTorch: 0 and the number of bytes, because elements may be scattered.
  uint64_t begin = 0;
  uint64_t end = 0;
  std::string same_as;  // name of an earlier tensor with the same bytes (tied weights), or empty

  uint64_t bytes() const { return end - begin; }
};

// Encoded rows have their scales in a tensor with this suffix.
inline constexpr std::string_view kScaleSuffix = "_scale";

// Returns the name in safetensors, for example "F32".
std::string DTypeName(DType dtype);

// Returns for example "[2, 3]".
std::string ShapeString(std::span<const int64_t> shape);

// Returns shape * bits per element, in bytes; nullopt on overflow, or if it is not a whole number. Sizes must not be negative.
std::optional<uint64_t> TensorBytes(std::span<const int64_t> shape, int bits);

// Checks that there is memory for lists and maps of the tensors. Errors: kOutOfMemory.
Status EnsureTensorMemory(size_t tensors);

class TensorVisitor {
 public:
  virtual ~TensorVisitor() = default;
  // Receives all checked tensors of the file before any bytes. An error stops the parser.
  virtual Status OnHeader(std::span<const TensorInfo> tensors) = 0;
  // Receives the next bytes of tensor `index`, without gaps. A tensor is complete before the next one starts. Skips empty tensors.
  virtual Status OnData(size_t index, std::span<const uint8_t> bytes) = 0;
  // Whether a tensor's bytes are needed. Parsers may skip those of other tensors.
  virtual bool Wants(size_t) const { return true; }
};

}  // namespace peruse

// Description of a weights file's tensors, in any format, and the interface that receives them.
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
  std::string dtype_name;      // as written
  std::optional<DType> dtype;  // nullopt for types that no model uses (U16, F8_E4M3, ...)
  std::vector<int64_t> shape;
  // safetensors: byte range from the end of the header. PyTorch: 0 and the number of bytes, because elements may be scattered.
  uint64_t begin = 0;
  uint64_t end = 0;
  std::string same_as;  // the name of an earlier tensor with the same bytes (tied weights), or empty

  uint64_t bytes() const { return end - begin; }
};

// The scales of encoded rows are in a tensor with this suffix.
inline constexpr std::string_view kScaleSuffix = "_scale";

// safetensors' name: "F32".
std::string DTypeName(DType dtype);

// "[2, 3]"
std::string ShapeString(std::span<const int64_t> shape);

// shape * bits per element, in bytes; nullopt on overflow or a partial byte. Sizes are not negative.
std::optional<uint64_t> TensorBytes(std::span<const int64_t> shape, int bits);

// Checks that the tensors fit into lists and maps. Errors: kOutOfMemory.
Status EnsureTensorMemory(size_t tensors);

// Receives tensors.
class TensorVisitor {
 public:
  virtual ~TensorVisitor() = default;
  // Receives all checked tensors of the file before any bytes. An error stops the parse.
  virtual Status OnHeader(std::span<const TensorInfo> tensors) = 0;
  // Receives the next bytes of tensor `index`, in order and without gaps. A tensor is complete before the next one starts. Empty tensors
  // get no call.
  virtual Status OnData(size_t index, std::span<const uint8_t> bytes) = 0;
  // Whether a tensor's bytes are needed; unneeded ones may be skipped.
  virtual bool Wants(size_t) const { return true; }
};

}  // namespace peruse

// What a weights file says of its tensors, whatever its format, and where they go as they are read.
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
  std::optional<DType> dtype;  // nothing for types that no model of ours reads (U16, F8_E4M3, ...)
  std::vector<int64_t> shape;
  // safetensors: where its bytes lie, counted from the end of the header. PyTorch: 0 and their number, as they are scattered.
  uint64_t begin = 0;
  uint64_t end = 0;
  std::string
      same_as;  // the name of an earlier tensor that is the very same bytes (tied weights); empty: there is none

  uint64_t bytes() const { return end - begin; }
};

// A tensor of encoded rows has its scales in a tensor of this name after its own.
inline constexpr std::string_view kScaleSuffix = "_scale";

// As safetensors writes it: "F32".
std::string DTypeName(DType dtype);

// "[2, 3]"
std::string ShapeString(std::span<const int64_t> shape);

// shape * bits of an element, in bytes; nothing on overflow or a broken byte. Sizes are not negative.
std::optional<uint64_t> TensorBytes(std::span<const int64_t> shape, int bits);

// Whether so many tensors can be told of in lists and maps; else kOutOfMemory.
Status EnsureTensorMemory(size_t tensors);

// Where tensors go.
class TensorVisitor {
 public:
  virtual ~TensorVisitor() = default;
  // All tensors of the file, checked, before the first of their bytes. An error stops the parse.
  virtual Status OnHeader(std::span<const TensorInfo> tensors) = 0;
  // The next bytes of tensor `index`, in order and without gaps, and all of a tensor before the first of another. Tensors
  // without bytes get no call.
  virtual Status OnData(size_t index, std::span<const uint8_t> bytes) = 0;
  // Whether a tensor's bytes are of use. The others may be left out.
  virtual bool Wants(size_t) const { return true; }
};

}  // namespace peruse

// The dictionary of tensors in a PyTorch file's pickle: which it is, what it names, and where the bytes lie.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/status.h"
#include "core/weights/pytorch/pickle.h"
#include "core/weights/tensor_info.h"

namespace peruse {

// A tensor of the dictionary, checked: all of its elements lie within its storage.
struct StateTensor {
  TensorInfo info;
  uint32_t storage = 0;  // index into Pickle::storages()
  // Bytes of the storage.
  uint64_t begin = 0;
  uint64_t end = 0;  // past the last element
  // In elements. Empty: they follow one another.
  std::vector<int64_t> strides;
};

// The bytes of a storage; nothing on overflow.
std::optional<uint64_t> StorageBytes(const PickleStorage& storage);

// In the order of the dictionary. kUnsupported if there is no such dictionary, kMalformedFile if a tensor is impossible.
Result<std::vector<StateTensor>> ReadStateDict(const Pickle& pickle);

}  // namespace peruse

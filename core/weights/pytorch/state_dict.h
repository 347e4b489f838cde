#pragma once

#include <cstdint>
#include <vector>

#include "core/base/status.h"
#include "core/weights/pytorch/pickle.h"
#include "core/weights/tensor_info.h"

namespace peruse {

// A checked tensor: all of its elements are within its storage.
struct StateTensor {
  TensorInfo info;
  uint32_t storage = 0;  // index into Pickle::storages()
  uint64_t begin = 0;
  uint64_t end = 0;  // past the last element
  // Strides in elements; empty if the elements are consecutive.
  std::vector<int64_t> strides;
};

std::optional<uint64_t> StorageBytes(const PickleStorage& storage);

// Finds the dictionary of tensors in a PyTorch pickle, and returns its tensors in order. Errors: kUnsupported if there is no such
// dictionary, kMalformedFile for an impossible tensor.
Result<std::vector<StateTensor>> ReadStateDict(const Pickle& pickle);

}  // namespace peruse

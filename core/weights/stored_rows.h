// How files store tensors in a weight format: as rows of the parameter that the tensor fills, with scales in a second tensor.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/formats/weight_format.h"
#include "core/program/layout.h"
#include "core/program/parameters.h"

namespace peruse {

struct StoredRows {
  const WeightFormat* format = nullptr;  // nullptr for tensors that are stored as they are
  // Whether the matrices of a tensor [matrices, in, columns] are stored as [matrices, columns, in]: rows of experts.
  bool transposed = false;

  bool operator==(const StoredRows&) const = default;

  // The shapes of the two tensors for a tensor of `shape`, and the width of its rows. Precondition: format != nullptr.
  std::vector<int64_t> FileShape(std::span<const int64_t> shape) const;
  std::vector<int64_t> ScaleShape(std::span<const int64_t> shape) const;
  int64_t Width(std::span<const int64_t> shape) const;
};

// Whether files store the tensor's matrices transposed, if they store it in a weight format.
bool StoresTransposed(const Parameters& parameters, const ParameterTensor& tensor);

// Returns the runs of `count` rows from row `first` on that a file stores in a weight format, as RunsOf does for the tensor's own elements.
// An element is a row.
std::vector<ElementRun> RunsOfRows(const Parameters& parameters, const ParameterTensor& tensor, int64_t first,
                                   int64_t count);

}  // namespace peruse

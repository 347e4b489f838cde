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
  // Inputs of the matrices of a tensor [matrices, in, columns] or [matrices * in, columns] that is stored transposed, as [matrices, columns, in]
  // or [matrices * columns, in]: rows of experts. 0 means that the tensor is stored as it is.
  int64_t in = 0;

  bool operator==(const StoredRows&) const = default;

  // The shapes of the two tensors for a tensor of `shape`, and the width of its rows. Precondition: format != nullptr.
  std::vector<int64_t> FileShape(std::span<const int64_t> shape) const;
  std::vector<int64_t> ScaleShape(std::span<const int64_t> shape) const;
  int64_t Width(std::span<const int64_t> shape) const;
  // The number of elements of the smallest part of the tensor that fills whole rows.
  int64_t UnitElements(std::span<const int64_t> shape) const { return Width(shape) * (in > 0 ? shape.back() : 1); }
};

// Returns StoredRows::in: not 0 if files store the tensor's matrices transposed, if they store it in a weight format.
int64_t RowsTransposed(const Parameters& parameters, const ParameterTensor& tensor);

// Returns the runs of `count` rows from row `first` on that a file stores in a weight format, as RunsOf does for the tensor's own elements.
// An element is a row.
std::vector<ElementRun> RunsOfRows(const Parameters& parameters, const ParameterTensor& tensor, int64_t first,
                                   int64_t count);

}  // namespace peruse

// Clusters the rows of a matrix by Ward's method on cosine distances (scipy's linkage and fcluster), to store fewer rows of a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/status.h"

namespace peruse {

// Returns the cluster of each of `count` rows, numbered from 0 in scipy's order. `distances` [count, count], symmetric, is overwritten.
// clusters >= 1 limits their number.
std::vector<int32_t> WardClusters(std::span<double> distances, size_t count, size_t clusters);

// Merges rows [rows, width] of length 1 to about rows / factor. The first `protected_rows` stay. Returns the remaining rows. Errors:
// kOutOfMemory, because distances take rows * rows numbers.
Result<std::vector<float>> MergeRows(std::span<const float> rows, size_t width, double factor, size_t protected_rows);

}  // namespace peruse

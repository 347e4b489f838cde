// Vectors that are searched: the rows whose products with a query are largest. Every row is looked at, so nothing is missed.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/base/float_buffer.h"
#include "core/base/status.h"

namespace peruse {

class VectorIndex {
 public:
  // `width`: numbers of a vector, at least 1.
  explicit VectorIndex(size_t width) : width_(width), query_(width) {}

  // Room for so many rows, whose contents are then undefined. kOutOfMemory leaves none.
  Status Resize(size_t rows);
  std::span<float> values() { return rows_.values(); }
  std::span<float> query() { return query_; }
  // The first row with a number that is not finite.
  std::optional<size_t> FirstBadRow() const;

  struct Hit {
    size_t row;
    float score;
  };
  // The `k` rows with the largest products with query(), or all there are: the largest first, of equals the earlier row.
  std::vector<Hit> Search(size_t k) const;

 private:
  size_t width_;
  std::vector<float> query_;
  FloatBuffer rows_;
};

}  // namespace peruse

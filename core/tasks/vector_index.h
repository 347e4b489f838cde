// Vectors that are searched: the rows whose products with a query are largest. Every row is compared, so the result is exact.
//
// A search is bound by how fast memory can be read, so most rows are read in 8 bits: these tell a product up to a bound, and only
// rows whose product may be among the best by it are read in full. What is found is what reading all of them would find, bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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
  // To be called when rows were written. The first one with a number that is not finite: then none may be searched.
  std::optional<size_t> Finish();

  struct Hit {
    size_t row;
    float score;
  };
  // The `k` rows with the largest products with query(), or all there are: the largest first, of equals the earlier row.
  std::vector<Hit> Search(size_t k) const;

 private:
  // A row in 8 bits: values[i] is codes[i] * scale, but for `error`.
  struct Summary {
    float scale;
    float size;   // the length of the row, not less
    float error;  // the length of what is lost, not less
  };
  // The same of the query, in more bits.
  struct QueryCodes;

  size_t rows() const { return summaries_size_; }
  // Whether width and number of rows are worth codes.
  bool has_codes() const { return codes_ != nullptr; }
  void Encode(size_t row);
  QueryCodes EncodeQuery() const;
  // What the product of a row and the query is at most further from what their codes say.
  float Bound(const Summary& row, const QueryCodes& query) const;
  // For each row the product that its codes tell, and the largest score that is sure to be reached by k rows.
  float Estimate(const QueryCodes& query, size_t k, std::span<float> estimates) const;

  size_t width_;
  std::vector<float> query_;
  FloatBuffer rows_;
  std::unique_ptr<int8_t[]> codes_;  // [rows, width]; none: every row is read in full
  std::unique_ptr<Summary[]> summaries_;
  size_t summaries_size_ = 0;
};

}  // namespace peruse

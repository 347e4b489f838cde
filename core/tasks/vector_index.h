// Exact vector search: finds the rows with the largest products with a query, by comparing every row. Memory bandwidth limits a search, so
// it first reads rows in 8 bits, which gives each product up to a bound; only rows that may be among the best are read in full. Results are
// bit-identical to reading all rows. An index can also contain rows in 8 bits only.
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
  explicit VectorIndex(size_t width) : width_(width), query_(width) {}

  // Resizes to `rows` rows with undefined contents. kOutOfMemory leaves the index empty.
  Status Resize(size_t rows);
  std::span<float> values() { return rows_.values(); }
  // Like Resize, for rows of 8-bit integers: element i of a row is codes()[row * width + i] * scales()[row].
  Status ResizeCodes(size_t rows);
  std::span<int8_t> codes() { return {codes_.get(), codes_only_ ? rows() * width_ : 0}; }
  std::span<float> scales() { return scales_.values(); }
  std::span<float> query() { return query_; }
  // Must be called after rows are written. Returns the first row with NaN, infinity or a negative scale; the index must then not be
  // searched.
  std::optional<size_t> Finish();

  struct Hit {
    size_t row;
    float score;
  };
  // Returns the `k` rows (or all, if there are fewer) with the largest products with query(), in descending order of product, then by row.
  std::vector<Hit> Search(size_t k) const;

  // Late interaction: the rows of 8-bit integers [ends[i - 1], ends[i]) are matrix i. Errors: kOutOfMemory.
  Status ResizeEnds(size_t matrices);
  std::span<uint32_t> ends() { return ends_; }
  // Resizes the query to a matrix. Errors: kOutOfMemory.
  Status ResizeQuery(size_t rows);
  // Returns the `k` matrices with the largest scores: the sum over the query's rows of the largest product with a row of the matrix. The query
  // is rounded to 12 bits. Matrices without rows are not found. Precondition: ResizeCodes, Finish, and ends that ascend to the number of rows.
  std::vector<Hit> SearchMatrices(size_t k) const;

 private:
  // A row in 8 bits: values[i] is codes[i] * scale. The vector of differences is at most `error` long.
  struct Summary {
    float scale;
    float size;   // upper bound of the row's length
    float error;  // upper bound of the length of the encoding error
  };
  // The query as integers, with more bits than those of rows.
  struct QueryCodes;

  size_t rows() const { return summaries_size_; }
  bool has_codes() const { return codes_ != nullptr; }
  // Whether the index is wide and long enough that estimates from codes save time.
  bool JustifiesCodes(size_t rows) const;
  void Encode(size_t row);
  bool FinishCodes(size_t row);
  float RowProduct(size_t row) const;
  QueryCodes EncodeQuery(size_t row = 0) const;
  // Returns an upper bound of the difference between the product of row and query, and the product of their codes.
  float Bound(const Summary& row, const QueryCodes& query) const;
  // Computes an upper bound of each row's product, and returns a score that at least k rows are certain to reach.
  float Estimate(const QueryCodes& query, size_t k, std::span<float> estimates) const;

  size_t width_;
  std::vector<float> query_;  // one row, or those of a matrix
  std::vector<uint32_t> ends_;
  FloatBuffer rows_;
  std::unique_ptr<int8_t[]> codes_;  // [rows, width]; null means every row is read in full
  bool codes_only_ = false;          // whether there are only codes, and rows_ is empty
  FloatBuffer scales_;               // scale of each row, if codes_only_
  std::unique_ptr<Summary[]> summaries_;
  size_t summaries_size_ = 0;
};

}  // namespace peruse

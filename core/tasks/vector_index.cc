#include "core/tasks/vector_index.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <string>

#include "core/base/memory.h"
#include "core/cpu/dot.h"

#if defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

namespace peruse {
namespace {

constexpr float kRowLevels = 127;
// A product of codes must fit 32 bits: at most 127 * 2047 * 8192.
constexpr float kQueryLevels = 2047;
constexpr size_t kWidestCodes = 8192;
constexpr size_t kFewestCodes = 1024;  // with fewer rows, reading codes first does not save time
// Factor that rounds lengths up by more than their rounding error, so that bounds stay valid.
constexpr double kUp = 1 + 1e-6;

int32_t Product(const int8_t* a, const int16_t* b, size_t count) {
  size_t i = 0;
  int32_t product = 0;
#if defined(__wasm_simd128__)
  v128_t sums[2] = {wasm_i32x4_const_splat(0), wasm_i32x4_const_splat(0)};
  for (; i + 16 <= count; i += 16) {
    for (size_t half = 0; half < 2; ++half) {
      const v128_t x = wasm_i16x8_load8x8(a + i + 8 * half);
      sums[half] = wasm_i32x4_add(sums[half], wasm_i32x4_dot_i16x8(x, wasm_v128_load(b + i + 8 * half)));
    }
  }
  const v128_t sum = wasm_i32x4_add(sums[0], sums[1]);
  product = wasm_i32x4_extract_lane(sum, 0) + wasm_i32x4_extract_lane(sum, 1) + wasm_i32x4_extract_lane(sum, 2) +
            wasm_i32x4_extract_lane(sum, 3);
#endif
  for (; i < count; ++i) product += int32_t{a[i]} * int32_t{b[i]};
  return product;
}

float Product(const int8_t* a, const float* b, size_t count) {
  float sums[4] = {};
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (size_t lane = 0; lane < 4; ++lane) sums[lane] += static_cast<float>(a[i + lane]) * b[i + lane];
  }
  float product = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (; i < count; ++i) product += static_cast<float>(a[i]) * b[i];
  return product;
}

template <typename Code>
float Codes(std::span<const float> values, float levels, Code* codes) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::fabs(value));
  const float scale = largest / levels;
  // If all values are zero, or so small that the quotient overflows, all codes are zero and Lengths::lost is the length of the row.
  const float inverse = scale >= std::numeric_limits<float>::min() ? levels / largest : 0;
  for (size_t i = 0; i < values.size(); ++i) codes[i] = static_cast<Code>(std::lrint(values[i] * inverse));
  return scale;
}

struct Lengths {
  double row = 0;
  double lost = 0;
  double kept = 0;
};

template <typename Code>
Lengths LengthsOf(std::span<const float> values, float scale, const Code* codes) {
  Lengths squares;
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = static_cast<double>(values[i]);
    const double kept = static_cast<double>(scale) * codes[i];
    squares.row += value * value;
    squares.kept += kept * kept;
    squares.lost += (value - kept) * (value - kept);
  }
  return {std::sqrt(squares.row) * kUp, std::sqrt(squares.lost) * kUp, std::sqrt(squares.kept) * kUp};
}

bool Better(const VectorIndex::Hit& one, const VectorIndex::Hit& other) {
  return one.score != other.score ? one.score > other.score : one.row < other.row;
}

// The best `k` hits so far, as a heap with the worst hit at the front.
class Best {
 public:
  Best(size_t k, size_t rows) : k_(k) { hits_.reserve(std::min(k, rows) + 1); }

  void Offer(const VectorIndex::Hit& hit) {
    if (hits_.size() == k_ && !Better(hit, hits_.front())) return;
    hits_.push_back(hit);
    std::push_heap(hits_.begin(), hits_.end(), Better);
    if (hits_.size() <= k_) return;
    std::pop_heap(hits_.begin(), hits_.end(), Better);
    hits_.pop_back();
  }
  float least() const { return hits_.size() < k_ ? -std::numeric_limits<float>::infinity() : hits_.front().score; }
  std::vector<VectorIndex::Hit> Sorted() && {
    std::sort_heap(hits_.begin(), hits_.end(), Better);
    return std::move(hits_);
  }

 private:
  const size_t k_;
  std::vector<VectorIndex::Hit> hits_;
};

}  // namespace

struct VectorIndex::QueryCodes {
  std::vector<int16_t> codes;
  float scale;
  double size;  // length of the original vector
  double kept;  // length of the vector that the codes represent
  double error;
};

bool VectorIndex::JustifiesCodes(size_t rows) const { return rows >= kFewestCodes && width_ <= kWidestCodes; }

Status VectorIndex::Resize(size_t rows) {
  summaries_size_ = 0;
  codes_.reset();
  summaries_.reset();
  codes_only_ = false;
  PERUSE_RETURN_IF_ERROR(scales_.Resize(0));
  const size_t count = SaturatingMultiply(rows, width_);  // SIZE_MAX, which cannot be allocated, if it overflows
  PERUSE_RETURN_IF_ERROR(rows_.Resize(count));
  summaries_size_ = rows;
  if (!JustifiesCodes(rows)) return OkStatus();
  codes_.reset(new (std::nothrow) int8_t[count]);
  summaries_.reset(new (std::nothrow) Summary[rows]);
  if (codes_ && summaries_) return OkStatus();
  codes_.reset();  // searches without codes take longer and give the same results
  summaries_.reset();
  return OkStatus();
}

Status VectorIndex::ResizeCodes(size_t rows) {
  PERUSE_RETURN_IF_ERROR(Resize(0));
  PERUSE_RETURN_IF_ERROR(scales_.Resize(rows));
  codes_.reset(new (std::nothrow) int8_t[SaturatingMultiply(rows, width_)]);
  summaries_.reset(new (std::nothrow) Summary[rows]);
  if (!codes_ || !summaries_) {
    codes_.reset();
    summaries_.reset();
    return OutOfMemory("no memory for " + std::to_string(rows) + " vectors");
  }
  codes_only_ = true;
  summaries_size_ = rows;
  return OkStatus();
}

bool VectorIndex::FinishCodes(size_t row) {
  const float scale = scales_.values()[row];
  if (!std::isfinite(scale) || scale < 0) return false;
  double squares = 0;
  for (size_t i = row * width_; i < (row + 1) * width_; ++i) squares += static_cast<double>(codes_[i]) * codes_[i];
  summaries_[row] = {scale, static_cast<float>(std::sqrt(squares) * static_cast<double>(scale) * kUp), 0};
  return true;
}

float VectorIndex::RowProduct(size_t row) const {
  if (codes_only_) return Product(codes_.get() + row * width_, query_.data(), width_) * summaries_[row].scale;
  return cpu::Dot(&rows_.values()[row * width_], query_.data(), std::ssize(query_));
}

void VectorIndex::Encode(size_t row) {
  const std::span<const float> values = std::as_const(rows_).values().subspan(row * width_, width_);
  int8_t* const codes = codes_.get() + row * width_;
  const float scale = Codes(values, kRowLevels, codes);
  const Lengths lengths = LengthsOf(values, scale, codes);
  summaries_[row] = {scale, static_cast<float>(lengths.row), static_cast<float>(lengths.lost)};
}

std::optional<size_t> VectorIndex::Finish() {
  const std::span<const float> values = rows_.values();
  for (size_t row = 0; row < rows(); ++row) {
    if (codes_only_) {
      if (!FinishCodes(row)) return row;
      continue;
    }
    const std::span<const float> own = values.subspan(row * width_, width_);
    if (!std::all_of(own.begin(), own.end(), [](float value) { return std::isfinite(value); })) return row;
    if (has_codes()) Encode(row);
  }
  return std::nullopt;
}

VectorIndex::QueryCodes VectorIndex::EncodeQuery(size_t row) const {
  QueryCodes query = {std::vector<int16_t>(width_), 0, 0, 0, 0};
  const std::span<const float> values = std::span(query_).subspan(row * width_, width_);
  query.scale = Codes(values, kQueryLevels, query.codes.data());
  const Lengths lengths = LengthsOf(values, query.scale, query.codes.data());
  query.size = lengths.row;
  query.kept = lengths.kept;
  query.error = lengths.lost;
  return query;
}

// |a b - a' b'| <= |a| |b - b'| + |a - a'| |b'|, plus rounding: per term, half an epsilon of the sum of absolute products in the float32
// product, four such errors in the codes, and underflow.
float VectorIndex::Bound(const Summary& row, const QueryCodes& query) const {
  constexpr double kHalfEpsilon = 5.9604644775390625e-8;
  constexpr double kLeast = 1.1754943508222875e-38;
  const double size = static_cast<double>(row.size);
  const double lost = size * query.error + static_cast<double>(row.error) * query.kept;
  const auto terms = static_cast<double>(width_ + 8);
  return static_cast<float>((lost + terms * kHalfEpsilon * size * query.size + terms * kLeast) * kUp);
}

float VectorIndex::Estimate(const QueryCodes& query, size_t k, std::span<float> estimates) const {
  Best sure(k, rows());
  for (size_t row = 0; row < rows(); ++row) {
    const Summary& summary = summaries_[row];
    const int32_t product = Product(codes_.get() + row * width_, query.codes.data(), width_);
    const float estimate = static_cast<float>(product) * (summary.scale * query.scale);
    const float bound = Bound(summary, query);
    estimates[row] = estimate + bound;
    if (const float least = estimate - bound; least > sure.least()) sure.Offer({row, least});
  }
  return sure.least();
}

std::vector<VectorIndex::Hit> VectorIndex::Search(size_t k) const {
  Best best(k, rows());
  FloatBuffer estimates;
  float least = -std::numeric_limits<float>::infinity();
  // Estimates from codes do not help if most rows are requested. They also need memory.
  const bool by_codes = has_codes() && JustifiesCodes(rows()) && k < rows() / 4 && estimates.Resize(rows()).ok();
  if (by_codes && k > 0) least = Estimate(EncodeQuery(), k, estimates.values());
  for (size_t row = 0; k > 0 && row < rows(); ++row) {
    // If the estimate is NaN (overflow), the comparison is false, so the exact product decides.
    if (by_codes && estimates.values()[row] < least) continue;
    best.Offer({row, RowProduct(row)});
  }
  return std::move(best).Sorted();
}

Status VectorIndex::ResizeEnds(size_t matrices) {
  PERUSE_RETURN_IF_ERROR(EnsureMemory(SaturatingMultiply(sizeof(uint32_t), matrices), "the matrices of an index"));
  ends_.resize(matrices);
  return OkStatus();
}

Status VectorIndex::ResizeQuery(size_t rows) {
  const size_t count = SaturatingMultiply(rows, width_);
  PERUSE_RETURN_IF_ERROR(EnsureMemory(SaturatingMultiply(sizeof(float), count), "a query"));
  query_.resize(count);
  return OkStatus();
}

std::vector<VectorIndex::Hit> VectorIndex::SearchMatrices(size_t k) const {
  PERUSE_CHECK(codes_only_ || rows() == 0);
  Best best(k, ends_.size());
  std::vector<QueryCodes> query;
  for (size_t row = 0; row < query_.size() / width_; ++row) query.push_back(EncodeQuery(row));
  std::vector<float> largest(query.size());
  size_t row = 0;
  for (size_t matrix = 0; k > 0 && matrix < ends_.size(); ++matrix) {
    std::fill(largest.begin(), largest.end(), -std::numeric_limits<float>::infinity());
    const size_t first = row, end = std::min<size_t>(ends_[matrix], rows());
    for (; row < end; ++row) {
      const int8_t* const codes = codes_.get() + row * width_;
      const float scale = summaries_[row].scale;
      for (size_t i = 0; i < query.size(); ++i) {
        const auto product = static_cast<float>(Product(codes, query[i].codes.data(), width_));
        largest[i] = std::max(largest[i], product * scale);
      }
    }
    if (row == first) continue;  // a matrix without rows does not have a score
    float score = 0;
    for (size_t i = 0; i < query.size(); ++i) score += largest[i] * query[i].scale;
    best.Offer({matrix, score});
  }
  return std::move(best).Sorted();
}

}  // namespace peruse

#include "core/model/attention_maps.h"

#include <cstdlib>
#include <limits>

#include "core/base/status.h"

namespace peruse {
namespace {

struct Rows {
  int32_t a;
  int32_t b;
};

template <typename RowsOf>  // RowsOf: a function (int32_t i, int32_t j) that returns a row of `a` and a row of `b`
std::vector<float> Scores(const AttentionTerms& terms, std::span<const float> a, std::span<const float> b,
                          RowsOf rows_of) {
  const int32_t tokens = terms.tokens();
  const int32_t head_dim = terms.width / terms.heads;
  std::vector<float> scores;
  scores.reserve(static_cast<size_t>(terms.heads) * static_cast<size_t>(tokens) * static_cast<size_t>(tokens));
  for (int32_t h = 0; h < terms.heads; ++h) {
    for (int32_t i = 0; i < tokens; ++i) {
      for (int32_t j = 0; j < tokens; ++j) {
        const Rows rows = rows_of(i, j);
        const float* x = &a[static_cast<size_t>(rows.a) * static_cast<size_t>(terms.width)] + h * head_dim;
        const float* y = &b[static_cast<size_t>(rows.b) * static_cast<size_t>(terms.width)] + h * head_dim;
        double sum = 0;
        for (int32_t c = 0; c < head_dim; ++c) sum += static_cast<double>(x[c]) * static_cast<double>(y[c]);
        scores.push_back(static_cast<float>(sum * static_cast<double>(terms.scale)));
      }
    }
  }
  return scores;
}

int32_t Slot(const AttentionTerms& terms, int32_t i, int32_t j) {
  return terms.slots[static_cast<size_t>(i - j + terms.tokens() - 1)];
}

}  // namespace

std::vector<float> ContentToContent(const AttentionTerms& terms) {
  return Scores(terms, terms.query, terms.key, [](int32_t i, int32_t j) { return Rows{i, j}; });
}

std::vector<float> ContentToPosition(const AttentionTerms& terms) {
  return Scores(terms, terms.query, terms.position_key,
                [&](int32_t i, int32_t j) { return Rows{i, Slot(terms, i, j)}; });
}

std::vector<float> PositionToContent(const AttentionTerms& terms) {
  return Scores(terms, terms.key, terms.position_query,
                [&](int32_t i, int32_t j) { return Rows{j, Slot(terms, i, j)}; });
}

double DiagonalConcentration(std::span<const float> map, int32_t length, int32_t stride) {
  constexpr int32_t kHalfWidth = 4;
  PERUSE_CHECK(length > 0 && length <= stride);
  PERUSE_CHECK(map.size() + static_cast<size_t>(stride - length) >=
               static_cast<size_t>(length) * static_cast<size_t>(stride));
  double inside = 0;
  double outside = 0;
  for (int32_t i = 0; i < length; ++i) {
    const std::span<const float> row =
        map.subspan(static_cast<size_t>(i) * static_cast<size_t>(stride), static_cast<size_t>(length));
    for (int32_t j = 0; j < length; ++j) {
      (std::abs(i - j) <= kHalfWidth ? inside : outside) += static_cast<double>(row[static_cast<size_t>(j)]);
    }
  }
  return outside > 0 ? inside / outside : std::numeric_limits<double>::infinity();
}

}  // namespace peruse

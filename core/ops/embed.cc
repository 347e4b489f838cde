#include "core/ops/embed.h"

#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {
namespace {

void ForEachLookup(const Embed& op, const Numbers& n,
                   const std::function<void(int32_t, std::span<const float>)>& visit) {
  const Matrix& out = n(op.out);
  for (const Embed::Lookup& lookup : op.lookups) {
    for (int32_t r = 0; lookup.index.valid() && r < out.rows; ++r) {
      std::vector<float> values(static_cast<size_t>(out.cols));
      const EmbeddingTable& table = n.tables[static_cast<size_t>(lookup.table.id)];
      table.AddRow(n(lookup.index)[static_cast<size_t>(r)], values);
      visit(r, values);
    }
  }
}

}  // namespace

bool Fits(const Embed& op, const Shapes& s) {
  for (const Embed::Lookup& lookup : op.lookups) {
    if (lookup.index.valid() && s(lookup.index).extent() != kTokenRows) return false;
  }
  return s(op.out).rows == kTokenRows;
}

void Compute(const Embed& op, const Numbers& n) {
  const Matrix& out = n(op.out);
  for (int32_t r = 0; r < out.rows; ++r) std::fill_n(&out(r, 0), out.cols, 0.0);
  ForEachLookup(op, n, [&](int32_t r, std::span<const float> values) {
    for (int32_t c = 0; c < out.cols; ++c) out(r, c) += static_cast<double>(op.scale * values[static_cast<size_t>(c)]);
  });
}

void Gradient(const Embed& op, const Numbers& n, const Gradients& g) {
  const Matrix& out = g(op.out);
  for (const Embed::Lookup& lookup : op.lookups) {
    for (int32_t r = 0; lookup.index.valid() && r < out.rows; ++r) {
      const Matrix& table = g.tables[static_cast<size_t>(lookup.table.id)];
      const int32_t row = n(lookup.index)[static_cast<size_t>(r)];
      for (int32_t c = 0; c < out.cols; ++c) table(row, c) += out(r, c) * static_cast<double>(op.scale);
    }
  }
}

std::vector<double> Bound(const Embed& op, Value result, const Numbers& n) {
  const auto cols = static_cast<size_t>(n(result).cols);
  std::vector<double> bounds(static_cast<size_t>(n(result).rows) * cols);
  ForEachLookup(op, n, [&](int32_t r, std::span<const float> values) {
    for (size_t c = 0; c < cols; ++c) {
      bounds[static_cast<size_t>(r) * cols + c] += kEpsilon * std::fabs(static_cast<double>(op.scale * values[c]));
    }
  });
  return bounds;
}

}  // namespace peruse::ops

#include "core/weights/stored_rows.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"

namespace peruse {
namespace {

// The shape of all rows, [matrices * columns, in].
std::vector<int64_t> RowShape(std::span<const int64_t> shape, int64_t in) { return {ElementCount(shape) / in, in}; }

// `whole` is the shape of a tensor of all rows, [matrices * columns, ...]. Separates the matrices again.
std::vector<int64_t> Separate(std::span<const int64_t> shape, std::vector<int64_t> whole) {
  whole[0] /= shape.back();
  whole.insert(whole.begin() + 1, shape.back());
  return whole;
}

}  // namespace

std::vector<int64_t> StoredRows::FileShape(std::span<const int64_t> shape) const {
  if (in == 0) return format->FileShape(shape);
  std::vector<int64_t> whole = format->FileShape(RowShape(shape, in));
  return shape.size() == 3 ? Separate(shape, std::move(whole)) : whole;
}

std::vector<int64_t> StoredRows::ScaleShape(std::span<const int64_t> shape) const {
  return in == 0 ? format->ScaleShape(shape) : Separate(shape, format->ScaleShape(RowShape(shape, in)));
}

int64_t StoredRows::Width(std::span<const int64_t> shape) const { return in > 0 ? in : ElementCount(shape.subspan(1)); }

int64_t RowsTransposed(const Parameters& parameters, const ParameterTensor& tensor) {
  if (tensor.parameter.kind != ParameterId::Kind::kWeight || TransposedPart(tensor.layout) == nullptr) return 0;
  // Other tensors of three dimensions are grouped layers.
  const bool are_experts = tensor.shape.size() == 2 || parameters.linear(tensor.parameter).experts;
  return are_experts ? parameters.cols(tensor.parameter) : 0;
}

std::vector<ElementRun> RunsOfRows(const Parameters& parameters, const ParameterTensor& tensor, int64_t first,
                                   int64_t count) {
  Placement placement = parameters.placement(tensor);
  placement.cols = 1;
  if (RowsTransposed(parameters, tensor) == 0) return RunsOf(placement, first, count);
  const int64_t rows = tensor.shape.back();  // of a matrix
  const auto& [offset, columns] = *TransposedPart(tensor.layout);
  const int64_t taken = columns > 0 ? columns : rows;
  std::vector<ElementRun> runs;
  for (int64_t row = first; row < first + count;) {
    const int64_t matrix = row / rows, begin = matrix * rows + offset;
    const int64_t from = std::max(row, begin), end = std::min(first + count, begin + taken);
    if (from < end) runs.push_back({.from = from - first, .to = matrix * taken + from - begin, .count = end - from});
    row = (matrix + 1) * rows;
  }
  return runs;
}

}  // namespace peruse

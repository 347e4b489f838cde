#include "core/weights/stored_rows.h"

#include <algorithm>

#include "core/base/status.h"

namespace peruse {
namespace {

// `whole` is the shape of a tensor of all rows, [matrices * columns, ...]. Separates the matrices again.
std::vector<int64_t> Separate(std::span<const int64_t> shape, std::vector<int64_t> whole) {
  whole[0] = shape[0];
  whole.insert(whole.begin() + 1, shape[2]);
  return whole;
}

}  // namespace

std::vector<int64_t> StoredRows::FileShape(std::span<const int64_t> shape) const {
  if (!transposed) return format->FileShape(shape);
  const int64_t rows[] = {shape[0] * shape[2], shape[1]};
  return Separate(shape, format->FileShape(rows));
}

std::vector<int64_t> StoredRows::ScaleShape(std::span<const int64_t> shape) const {
  if (!transposed) return format->ScaleShape(shape);
  const int64_t rows[] = {shape[0] * shape[2], shape[1]};
  return Separate(shape, format->ScaleShape(rows));
}

int64_t StoredRows::Width(std::span<const int64_t> shape) const {
  return transposed ? shape[1] : ElementCount(shape.subspan(1));
}

bool StoresTransposed(const Parameters& parameters, const ParameterTensor& tensor) {
  return tensor.parameter.kind == ParameterId::Kind::kWeight && parameters.linear(tensor.parameter).experts &&
         tensor.shape.size() == 3 && TransposedPart(tensor.layout) != nullptr;
}

std::vector<ElementRun> RunsOfRows(const Parameters& parameters, const ParameterTensor& tensor, int64_t first,
                                   int64_t count) {
  Placement placement = parameters.placement(tensor);
  placement.cols = 1;
  if (!StoresTransposed(parameters, tensor)) return RunsOf(placement, first, count);
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

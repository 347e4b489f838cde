// How the elements of a checkpoint tensor are arranged in the parameter that it fills: one small struct per layout, and one function that
// turns a layout into runs of elements. Loading, training and weight sharing only use runs.
//
// A parameter is a matrix: weights of a linear layer [out, in / groups], its biases [out, 1], a constant or a table [rows, cols]. Shapes in
// comments are those of the tensor.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace peruse {

namespace layouts {

// Any shape: elements in order, starting at row `first_row` of the parameter.
struct InOrder {
  int32_t first_row = 0;
  bool operator==(const InOrder&) const = default;
};

// [blocks * heads * parts * width, in]: reorders the rows of each block from head, part, channel to part, head, channel, starting at
// `first_row`.
struct HeadsOutermost {
  int32_t parts = 1;
  int32_t width = 1;  // channels per head
  int32_t first_row = 0;
  int32_t blocks = 1;
  bool operator==(const HeadsOutermost&) const = default;
};

// [groups, in / groups, columns], or [matrices * in, columns]: transposes each matrix, of which it takes `count` columns from `first` on. 0
// means all columns.
struct GroupsTransposed {
  int32_t first = 0;
  int32_t count = 0;
  bool operator==(const GroupsTransposed&) const = default;
};

// [out, in / groups, taps]: stores each row as [taps, in / groups].
struct TapsOutermost {
  bool operator==(const TapsOutermost&) const = default;
};

// [out, in, taps]: the rows [first_row + tap * out, first_row + (tap + 1) * out) belong to one tap.
struct RowsOfTaps {
  int32_t first_row = 0;
  bool operator==(const RowsOfTaps&) const = default;
};

// [out, all]: takes only the columns [first_column, first_column + cols).
struct SomeColumns {
  int32_t first_column = 0;
  bool operator==(const SomeColumns&) const = default;
};

// [parts, rows, cols], or [parts, cols]: takes the part `part`, as rows from `first_row` on, and multiplies it by `scale`.
struct Part {
  int32_t part = 0;
  int32_t first_row = 0;
  float scale = 1;
  bool operator==(const Part&) const = default;
};

// [parts, cols, rows]: transposes the part `part`.
struct TransposedPart {
  int32_t part = 0;
  bool operator==(const TransposedPart&) const = default;
};

// Transposes [cols, 1, rows] or [cols, rows].
struct Transposed {
  bool operator==(const Transposed&) const = default;
};

// [rows, cols / copies], or a scalar: repeats each row `copies` times.
struct Repeated {
  int32_t copies = 1;
  bool operator==(const Repeated&) const = default;
};

// [heads, taps]: stores the softmax over the taps as [taps, cols]. The columns of a head share its values.
struct SoftmaxTaps {
  bool operator==(const SoftmaxTaps&) const = default;
};

}  // namespace layouts

using Layout = std::variant<layouts::InOrder, layouts::HeadsOutermost, layouts::GroupsTransposed,
                            layouts::TapsOutermost, layouts::RowsOfTaps, layouts::SomeColumns, layouts::Part,
                            layouts::TransposedPart, layouts::Transposed, layouts::Repeated, layouts::SoftmaxTaps>;

struct Placement {
  Layout layout;
  std::span<const int64_t> shape;  // shape of the tensor
  int64_t cols = 1;                // columns of the parameter
};

// parameter[to + i] = tensor[from + i * step] for i < count, in elements; `from` is relative to the first requested unit.
struct ElementRun {
  int64_t from = 0;
  int64_t step = 1;
  int64_t to = 0;
  int64_t count = 0;
};

// Returns the number of elements in a unit: the smallest part of the tensor that fills whole rows of the parameter.
int64_t UnitElements(const Placement& placement);

// Returns the runs of `units` units of the tensor from unit `first` on. Runs of a row are consecutive, in the order of its columns.
std::vector<ElementRun> RunsOf(const Placement& placement, int64_t first, int64_t units);

std::vector<ElementRun> RunsOf(const Placement& placement);

inline bool IsSoftmax(const Layout& layout) { return std::holds_alternative<layouts::SoftmaxTaps>(layout); }

// The factor of a tensor's elements.
inline float ScaleOf(const Layout& layout) {
  const auto* part = std::get_if<layouts::Part>(&layout);
  return part != nullptr ? part->scale : 1;
}

inline bool IsInOrder(const Layout& layout) { return std::holds_alternative<layouts::InOrder>(layout); }

// Whether the parameter takes some rows of the tensor, as floats, whatever the format in which the tensor is stored.
inline bool TakesPart(const Layout& layout) { return std::holds_alternative<layouts::Part>(layout); }

// Whether each row of the tensor is a row of the parameter. Only then may tensor rows arrive in the parameter's weight format.
inline bool KeepsRows(const Layout& layout) {
  return IsInOrder(layout) || std::holds_alternative<layouts::HeadsOutermost>(layout);
}

// The columns that the layout takes of matrices that it transposes; nullptr for other layouts.
inline const layouts::GroupsTransposed* TransposedPart(const Layout& layout) {
  return std::get_if<layouts::GroupsTransposed>(&layout);
}

std::vector<float> SoftmaxOfRows(std::span<const float> values, int64_t cols);

int64_t ElementCount(std::span<const int64_t> shape);

}  // namespace peruse

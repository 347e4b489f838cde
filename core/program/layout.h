// Layouts of a checkpoint's tensor in the parameter that it fills: a small struct per layout, and one function that turns layouts into runs
// of elements. Loading, training and weight sharing use runs only.
//
// A parameter is a matrix of rows: the weights of a linear layer [out, in / groups], its biases [out, 1], a constant or a table [rows,
// cols]. Shapes in comments are the tensor's.
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

// [heads * parts * width, in], rows ordered head, part, channel; stored as part, head, channel, starting at `first_row`.
struct HeadsOutermost {
  int32_t parts = 1;
  int32_t width = 1;  // channels per head
  int32_t first_row = 0;
  bool operator==(const HeadsOutermost&) const = default;
};

// [groups, in / groups, out / groups]: each group's matrix, transposed.
struct GroupsTransposed {
  bool operator==(const GroupsTransposed&) const = default;
};

// The checkpoint has [out, in / groups, taps]; each row is stored as [taps, in / groups].
struct TapsOutermost {
  bool operator==(const TapsOutermost&) const = default;
};

// [out, in, taps]: the rows [first_row + tap * out, first_row + (tap + 1) * out) belong to one tap.
struct RowsOfTaps {
  int32_t first_row = 0;
  bool operator==(const RowsOfTaps&) const = default;
};

// [out, all]: the columns [first_column, first_column + cols).
struct SomeColumns {
  int32_t first_column = 0;
  bool operator==(const SomeColumns&) const = default;
};

// [cols, 1, rows] or [cols, rows]: transposed.
struct Transposed {
  bool operator==(const Transposed&) const = default;
};

// [rows, cols / copies], or a scalar: each row repeated.
struct Repeated {
  int32_t copies = 1;
  bool operator==(const Repeated&) const = default;
};

// [heads, taps]: the softmax over the taps, stored as [taps, cols]; the columns of a head share its values.
struct SoftmaxTaps {
  bool operator==(const SoftmaxTaps&) const = default;
};

}  // namespace layouts

using Layout = std::variant<layouts::InOrder, layouts::HeadsOutermost, layouts::GroupsTransposed,
                            layouts::TapsOutermost, layouts::RowsOfTaps, layouts::SomeColumns, layouts::Transposed,
                            layouts::Repeated, layouts::SoftmaxTaps>;

// A tensor's location in a parameter.
struct Placement {
  Layout layout;
  std::span<const int64_t> shape;  // the tensor's
  int64_t cols = 1;                // the parameter's
};

// parameter[to + i] = tensor[from + i * step] for i < count, in elements; `from` is relative to the first requested unit.
struct ElementRun {
  int64_t from = 0;
  int64_t step = 1;
  int64_t to = 0;
  int64_t count = 0;
};

// Elements per unit: the smallest part of the tensor that fills whole rows of the parameter.
int64_t UnitElements(const Placement& placement);

// Runs of `units` units of the tensor, starting at unit `first`. Runs of one row are consecutive, in the order of its columns.
std::vector<ElementRun> RunsOf(const Placement& placement, int64_t first, int64_t units);

// Runs of the whole tensor.
std::vector<ElementRun> RunsOf(const Placement& placement);

// Whether a softmax over the tensor's rows is applied before storing.
inline bool IsSoftmax(const Layout& layout) { return std::holds_alternative<layouts::SoftmaxTaps>(layout); }

// Whether each tensor row is a parameter row, as required for rows in the parameter's format.
inline bool KeepsRows(const Layout& layout) {
  return std::holds_alternative<layouts::InOrder>(layout) || std::holds_alternative<layouts::HeadsOutermost>(layout);
}

std::vector<float> SoftmaxOfRows(std::span<const float> values, int64_t cols);

int64_t ElementCount(std::span<const int64_t> shape);

}  // namespace peruse

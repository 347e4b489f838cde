#include "core/program/layout.h"

#include <algorithm>

#include "core/base/elementary.h"

namespace peruse {
namespace {

using Runs = std::vector<ElementRun>;

// For each layout: Unit returns the number of elements in a unit, and Append adds the runs of the units [first, first + units).

int64_t Unit(const layouts::InOrder&, const Placement& p) { return p.cols; }
void Append(const layouts::InOrder& layout, const Placement& p, int64_t first, int64_t units, Runs& runs) {
  runs.push_back({.to = (layout.first_row + first) * p.cols, .count = units * p.cols});
}

int64_t Unit(const layouts::HeadsOutermost&, const Placement& p) { return p.cols; }
void Append(const layouts::HeadsOutermost& layout, const Placement& p, int64_t first, int64_t units, Runs& runs) {
  const int64_t width = layout.width;
  const int64_t block = p.shape[0] / layout.blocks, heads = block / (layout.parts * width);
  for (int64_t row = first; row < first + units;) {
    const int64_t head = row % block / (layout.parts * width), part = row / width % layout.parts, channel = row % width;
    const int64_t rows = std::min(width - channel, first + units - row);
    const int64_t to = layout.first_row + row / block * block + (part * heads + head) * width + channel;
    runs.push_back({.from = (row - first) * p.cols, .to = to * p.cols, .count = rows * p.cols});
    row += rows;
  }
}

int64_t Unit(const layouts::GroupsTransposed&, const Placement& p) { return p.cols * p.shape.back(); }
void Append(const layouts::GroupsTransposed& layout, const Placement& p, int64_t first, int64_t units, Runs& runs) {
  const int64_t in = p.cols, all = p.shape.back(), out = layout.count > 0 ? layout.count : all;
  for (int64_t g = 0; g < units; ++g) {
    for (int64_t o = 0; o < out; ++o) {
      const int64_t from = g * in * all + layout.first + o;
      runs.push_back({.from = from, .step = all, .to = ((first + g) * out + o) * in, .count = in});
    }
  }
}

int64_t Unit(const layouts::TapsOutermost&, const Placement& p) { return p.shape[1] * p.shape[2]; }
void Append(const layouts::TapsOutermost&, const Placement& p, int64_t first, int64_t units, Runs& runs) {
  const int64_t in = p.shape[1], taps = p.shape[2];
  for (int64_t o = 0; o < units; ++o) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      runs.push_back({.from = o * in * taps + tap, .step = taps, .to = ((first + o) * taps + tap) * in, .count = in});
    }
  }
}

int64_t Unit(const layouts::RowsOfTaps&, const Placement& p) { return p.shape[1] * p.shape[2]; }
void Append(const layouts::RowsOfTaps& layout, const Placement& p, int64_t first, int64_t units, Runs& runs) {
  const int64_t out = p.shape[0], in = p.shape[1], taps = p.shape[2];
  for (int64_t o = 0; o < units; ++o) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t row = layout.first_row + tap * out + first + o;
      runs.push_back({.from = o * in * taps + tap, .step = taps, .to = row * in, .count = in});
    }
  }
}

int64_t Unit(const layouts::SomeColumns&, const Placement& p) { return p.shape[1]; }
void Append(const layouts::SomeColumns& layout, const Placement& p, int64_t first, int64_t units, Runs& runs) {
  for (int64_t row = 0; row < units; ++row) {
    runs.push_back({.from = row * p.shape[1] + layout.first_column, .to = (first + row) * p.cols, .count = p.cols});
  }
}

int64_t Unit(const layouts::Part&, const Placement& p) { return p.cols; }
void Append(const layouts::Part& layout, const Placement& p, int64_t first, int64_t units, Runs& runs) {
  const int64_t rows = ElementCount(p.shape) / p.shape[0] / p.cols;
  const int64_t begin = std::max(first, layout.part * rows), end = std::min(first + units, (layout.part + 1) * rows);
  if (begin >= end) return;
  runs.push_back({.from = (begin - first) * p.cols,
                  .to = (layout.first_row + begin - layout.part * rows) * p.cols,
                  .count = (end - begin) * p.cols});
}

int64_t Unit(const layouts::TransposedPart&, const Placement& p) { return ElementCount(p.shape); }
void Append(const layouts::TransposedPart& layout, const Placement& p, int64_t, int64_t, Runs& runs) {
  const int64_t rows = p.shape.back();
  for (int64_t row = 0; row < rows; ++row) {
    runs.push_back({.from = layout.part * rows * p.cols + row, .step = rows, .to = row * p.cols, .count = p.cols});
  }
}

int64_t Unit(const layouts::Transposed&, const Placement& p) { return ElementCount(p.shape); }
void Append(const layouts::Transposed&, const Placement& p, int64_t, int64_t, Runs& runs) {
  const int64_t rows = p.shape.back();
  for (int64_t row = 0; row < rows; ++row) {
    runs.push_back({.from = row, .step = rows, .to = row * p.cols, .count = p.cols});
  }
}

int64_t Unit(const layouts::Repeated& layout, const Placement& p) { return p.cols / layout.copies; }
void Append(const layouts::Repeated& layout, const Placement& p, int64_t first, int64_t units, Runs& runs) {
  const int64_t width = p.cols / layout.copies;
  for (int64_t row = 0; row < units; ++row) {
    for (int64_t copy = 0; copy < layout.copies; ++copy) {
      runs.push_back({.from = row * width, .to = (first + row) * p.cols + copy * width, .count = width});
    }
  }
}

int64_t Unit(const layouts::SoftmaxTaps&, const Placement& p) { return ElementCount(p.shape); }
void Append(const layouts::SoftmaxTaps&, const Placement& p, int64_t, int64_t, Runs& runs) {
  const int64_t heads = p.shape[0], taps = p.shape[1], width = p.cols / heads;
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t head = 0; head < heads; ++head) {
      runs.push_back({.from = head * taps + tap, .step = 0, .to = tap * p.cols + head * width, .count = width});
    }
  }
}

}  // namespace

int64_t UnitElements(const Placement& placement) {
  return std::visit([&](const auto& layout) { return Unit(layout, placement); }, placement.layout);
}

std::vector<ElementRun> RunsOf(const Placement& placement, int64_t first, int64_t units) {
  Runs runs;
  std::visit([&](const auto& layout) { Append(layout, placement, first, units, runs); }, placement.layout);
  return runs;
}

std::vector<ElementRun> RunsOf(const Placement& placement) {
  return RunsOf(placement, 0, ElementCount(placement.shape) / UnitElements(placement));
}

std::vector<float> SoftmaxOfRows(std::span<const float> values, int64_t cols) {
  std::vector<float> result;
  for (const auto size = static_cast<size_t>(cols); !values.empty(); values = values.subspan(size)) {
    const std::span<const float> row = values.first(size);
    const auto largest = static_cast<double>(*std::max_element(row.begin(), row.end()));
    double sum = 0;
    for (const float value : row) sum += Exponential(static_cast<double>(value) - largest);
    for (const float value : row) {
      result.push_back(static_cast<float>(Exponential(static_cast<double>(value) - largest) / sum));
    }
  }
  return result;
}

int64_t ElementCount(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

}  // namespace peruse

// The writing half of Binder: how each kind of piece reaches the backend.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/weights/binder.h"

namespace peruse {
namespace {

// [rows, cols] -> [cols, rows]
Result<std::unique_ptr<float[]>> Transpose(std::span<const float> values, int32_t rows, int32_t cols) {
  std::unique_ptr<float[]> transposed(new (std::nothrow) float[values.size()]);
  if (!transposed) return OutOfMemory("no memory to transpose a weight");
  for (size_t r = 0; r < static_cast<size_t>(rows); ++r) {
    for (size_t c = 0; c < static_cast<size_t>(cols); ++c) {
      transposed[c * static_cast<size_t>(rows) + r] = values[r * static_cast<size_t>(cols) + c];
    }
  }
  return transposed;
}

// Of each row of `cols`.
std::vector<float> Softmax(std::span<const float> values, int32_t cols) {
  std::vector<float> result;
  for (const size_t size = static_cast<size_t>(cols); !values.empty(); values = values.subspan(size)) {
    const std::span<const float> row = values.first(size);
    const double largest = static_cast<double>(*std::max_element(row.begin(), row.end()));
    double sum = 0;
    for (const float value : row) sum += std::exp(static_cast<double>(value) - largest);
    for (const float value : row) {
      result.push_back(static_cast<float>(std::exp(static_cast<double>(value) - largest) / sum));
    }
  }
  return result;
}

// Rows of a linear that follow each other.
struct RowRun {
  int32_t first;
  int32_t count;
};

// Where a piece's rows from `row` on go, as long as they follow each other there.
RowRun Place(const Piece& piece, int32_t row) {
  if (piece.kind != Piece::Kind::kInterleaved) return {piece.first + row, static_cast<int32_t>(piece.shape[0]) - row};
  const int32_t parts = piece.count;
  const int32_t heads = static_cast<int32_t>(piece.shape[0]) / (parts * piece.size);
  const int32_t head = row / (parts * piece.size);
  const int32_t part = row / piece.size % parts;
  const int32_t channel = row % piece.size;
  return {piece.first + (part * heads + head) * piece.size + channel, piece.size - channel};
}

}  // namespace

// ---- Places ---------------------------------------------------------------------------------------------------------

Status Binder::EnsureLinear(const Piece& piece, Weight* weight) {
  Weight& held = weights_.linears[static_cast<size_t>(piece.parameter)];
  if (!held.valid()) {
    PERUSE_ASSIGN_OR_RETURN(held, backend_.CreateLinear(linear(piece)));
  }
  *weight = held;
  return OkStatus();
}

Status Binder::EnsureConstant(const Piece& piece, Tensor* constant) {
  Tensor& held = weights_.constants[static_cast<size_t>(piece.parameter)];
  if (!held.valid()) {
    const ConstantSpec& spec = parameters_.constants[static_cast<size_t>(piece.parameter)];
    PERUSE_ASSIGN_OR_RETURN(held, backend_.CreateConstant(spec.rows, spec.cols));
  }
  *constant = held;
  return OkStatus();
}

Status Binder::EnsureTable(const Piece& piece, DType source, EmbeddingTable** table) {
  const TableSpec& spec = parameters_.tables[static_cast<size_t>(piece.parameter)];
  *table = &weights_.tables[static_cast<size_t>(piece.parameter)];
  if ((*table)->bytes() > 0) return OkStatus();
  return (*table)->Allocate(spec.rows, spec.cols, FormatOf(precision_).TableType(source, spec.words));
}

// ---- Writing --------------------------------------------------------------------------------------------------------

int64_t Binder::Units(const Piece& piece) const {
  switch (piece.kind) {
    case Piece::Kind::kRows:
    case Piece::Kind::kInterleaved:
    case Piece::Kind::kColumns:
    case Piece::Kind::kGrouped:
    case Piece::Kind::kConv1d:
    case Piece::Kind::kTaps:
    case Piece::Kind::kTiled:
    case Piece::Kind::kTable:
      return piece.shape.empty() ? 1 : piece.shape[0];
    case Piece::Kind::kConstant:
      return parameters_.constants[static_cast<size_t>(piece.parameter)].rows;
    case Piece::Kind::kBias:
    case Piece::Kind::kTransposed:
    case Piece::Kind::kSoftmaxTaps:
      return 1;
  }
  return 1;
}

Status Binder::Write(const Target& target, DType dtype, int32_t first, std::span<const float> values) {
  const Piece& piece = *target.requirement->piece;
  if (target.scales) return WriteScales(piece, first, values);
  const bool table = piece.kind == Piece::Kind::kTable;
  return dtype == DType::kI8 && !table ? WriteInt8(*target.requirement, first, values)
                                       : WritePiece(piece, first, values);
}

Status Binder::WritePiece(const Piece& piece, int32_t first, std::span<const float> values) {
  switch (piece.kind) {
    case Piece::Kind::kRows:
    case Piece::Kind::kInterleaved:
      return WritePlaced(piece, first, values);
    case Piece::Kind::kColumns: {
      const size_t in = static_cast<size_t>(linear(piece).in);
      for (; !values.empty(); values = values.subspan(static_cast<size_t>(piece.shape[1])), ++first) {
        PERUSE_RETURN_IF_ERROR(WriteRows(piece, first, values.subspan(static_cast<size_t>(piece.first), in)));
      }
      return OkStatus();
    }
    case Piece::Kind::kGrouped:
    case Piece::Kind::kConv1d:
    case Piece::Kind::kTaps:
    case Piece::Kind::kTransposed:
      return WriteTransposed(piece, first, values);
    case Piece::Kind::kBias: {
      Weight weight;
      PERUSE_RETURN_IF_ERROR(EnsureLinear(piece, &weight));
      return backend_.WriteBias(weight, piece.first, values);
    }
    case Piece::Kind::kConstant: {
      Tensor constant;
      PERUSE_RETURN_IF_ERROR(EnsureConstant(piece, &constant));
      return backend_.WriteConstant(constant, first, values);
    }
    case Piece::Kind::kSoftmaxTaps:
      return WriteSoftmaxTaps(piece, values);
    case Piece::Kind::kTiled:
      return WriteTiled(piece, first, values);
    case Piece::Kind::kTable:
      weights_.tables[static_cast<size_t>(piece.parameter)].WriteRows(first, values);
      return OkStatus();
  }
  return OkStatus();
}

Status Binder::WriteRows(const Piece& piece, int32_t first_row, std::span<const float> rows) {
  Weight weight;
  PERUSE_RETURN_IF_ERROR(EnsureLinear(piece, &weight));
  return WriteFloats(backend_, weight, linear(piece), first_row, rows, &encoded_);
}

template <typename Write>
Status Binder::PlaceEach(const Piece& piece, int32_t row, int32_t count, Write write) {
  for (int32_t done = 0; done < count;) {
    const RowRun run = Place(piece, row + done);
    const int32_t size = std::min(run.count, count - done);
    PERUSE_RETURN_IF_ERROR(write(run.first, static_cast<size_t>(done), static_cast<size_t>(size)));
    done += size;
  }
  return OkStatus();
}

Status Binder::WritePlaced(const Piece& piece, int32_t row, std::span<const float> values) {
  const size_t width = static_cast<size_t>(linear(piece).in / linear(piece).groups);
  return PlaceEach(piece, row, static_cast<int32_t>(values.size() / width),
                   [&](int32_t to, size_t first, size_t count) {
                     return WriteRows(piece, to, values.subspan(first * width, count * width));
                   });
}

// One unit of the file, [rows, cols], becomes [cols, rows]: the rows of a group (kGrouped), one row with its taps outside
// (kConv1d) or each by itself (kTaps), or all taps (kTransposed).
Status Binder::WriteTransposed(const Piece& piece, int32_t unit, std::span<const float> values) {
  const bool taps = piece.kind == Piece::Kind::kTransposed;
  const int32_t rows = static_cast<int32_t>(piece.shape[taps ? 0 : 1]);
  const int32_t cols = static_cast<int32_t>(piece.shape.back());
  const size_t size = static_cast<size_t>(rows) * static_cast<size_t>(cols);
  for (; !values.empty(); values = values.subspan(size), ++unit) {
    PERUSE_ASSIGN_OR_RETURN(const auto transposed, Transpose(values.first(size), rows, cols));
    const std::span<const float> unit_values(transposed.get(), size);
    if (taps) {
      Tensor constant;
      PERUSE_RETURN_IF_ERROR(EnsureConstant(piece, &constant));
      return backend_.WriteConstant(constant, 0, unit_values);
    }
    if (piece.kind == Piece::Kind::kTaps) {
      const auto width = static_cast<size_t>(rows);
      for (int32_t tap = 0; tap < cols; ++tap) {
        const int32_t row = piece.first + tap * static_cast<int32_t>(piece.shape[0]) + unit;
        PERUSE_RETURN_IF_ERROR(WriteRows(piece, row, unit_values.subspan(static_cast<size_t>(tap) * width, width)));
      }
      continue;
    }
    const int32_t first_row = piece.kind == Piece::Kind::kGrouped ? unit * cols : unit;
    PERUSE_RETURN_IF_ERROR(WriteRows(piece, first_row, unit_values));
  }
  return OkStatus();
}

Status Binder::WriteInt8(const Requirement& requirement, int32_t row, std::span<const float> values) {
  const Piece& piece = *requirement.piece;
  Weight weight;
  PERUSE_RETURN_IF_ERROR(EnsureLinear(piece, &weight));
  const size_t width = static_cast<size_t>(linear(piece).in / linear(piece).groups);
  encoded_.integers.resize(values.size());
#pragma clang loop vectorize(disable)
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == -128)
      return MalformedFile("tensor \"" + requirement.name + "\" holds -128, which int8 weights never do");
    encoded_.integers[i] = static_cast<int8_t>(values[i]);
  }
  return PlaceEach(piece, row, static_cast<int32_t>(values.size() / width),
                   [&](int32_t to, size_t first, size_t count) {
                     return backend_.WriteInt8(
                         weight, to, std::span<const int8_t>(encoded_.integers).subspan(first * width, count * width));
                   });
}

Status Binder::WriteScales(const Piece& piece, int32_t row, std::span<const float> scales) {
  if (piece.kind == Piece::Kind::kTable) {
    weights_.tables[static_cast<size_t>(piece.parameter)].WriteScales(row, scales);
    return OkStatus();
  }
  Weight weight;
  PERUSE_RETURN_IF_ERROR(EnsureLinear(piece, &weight));
  return PlaceEach(piece, row, static_cast<int32_t>(scales.size()), [&](int32_t to, size_t first, size_t count) {
    return backend_.WriteScales(weight, to, scales.subspan(first, count));
  });
}

Status Binder::WriteSoftmaxTaps(const Piece& piece, std::span<const float> values) {
  Tensor taps;
  PERUSE_RETURN_IF_ERROR(EnsureConstant(piece, &taps));
  const std::vector<float> shared = Softmax(values, taps.rows);
  const int32_t head_width = taps.cols / piece.count;
  std::vector<float> row(static_cast<size_t>(taps.cols));  // one tap of every channel
  for (int32_t tap = 0; tap < taps.rows; ++tap) {
    for (int32_t c = 0; c < taps.cols; ++c) {
      row[static_cast<size_t>(c)] = shared[static_cast<size_t>(c / head_width * taps.rows + tap)];
    }
    PERUSE_RETURN_IF_ERROR(backend_.WriteConstant(taps, tap, row));
  }
  return OkStatus();
}

Status Binder::WriteTiled(const Piece& piece, int32_t row, std::span<const float> values) {
  Tensor constant;
  PERUSE_RETURN_IF_ERROR(EnsureConstant(piece, &constant));
  std::vector<float> tiled;
  for (const size_t size = piece.shape.empty() ? 1 : static_cast<size_t>(piece.shape[1]); !values.empty();
       values = values.subspan(size), ++row) {
    tiled.clear();
    for (int32_t i = 0; i < piece.count; ++i) tiled.insert(tiled.end(), values.data(), values.data() + size);
    PERUSE_RETURN_IF_ERROR(backend_.WriteConstant(constant, row, tiled));
  }
  return OkStatus();
}

}  // namespace peruse

// The parameters of a program: their sizes, and which tensor of a checkpoint each piece of them is.
//
// Plain data that outlives loading: the binder reads it to load, a trainer to visit what it changes and to write it back.
// Names are those of the reference implementation, without the encoder's prefix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/formats/linear_spec.h"

namespace peruse {

// A matrix that is constant during a run.
struct ConstantSpec {
  int32_t rows = 0;
  int32_t cols = 0;
};

// An embedding table, in host memory.
struct TableSpec {
  int32_t rows = 0;
  int32_t cols = 0;
  bool words = false;  // with kQ8 stored as int8 by row
};

// A tensor of the checkpoint that fills a parameter, or a part of one.
struct Piece {
  enum class Kind : uint8_t {
    kRows,         // [out, in] (or of any shape with as many elements): rows from `first` on of a linear
    kInterleaved,  // [heads * parts * size, in], rows ordered head, part, channel in the file: stored part, head, channel
    kGrouped,      // [groups, in / groups, out / groups], input-major: a linear with groups
    kConv1d,       // [out, in / groups, kernel]: a linear, stored tap-major
    kTaps,         // [out, in, taps]: tap by tap, rows from `first` on of a linear
    kBias,         // any shape: the biases from `first` on of a linear
    kConstant,     // [rows, cols], or [cols]
    kColumns,      // [out, all]: columns [first, first + in) as the rows of a linear
    kTransposed,   // [cols, 1, rows] or [cols, rows]: a constant
    kSoftmaxTaps,  // [heads, rows]: softmax over the taps, shared by each head's columns: a constant
    kTiled,        // [rows, cols / copies], each row repeated: a constant
    kTable,        // [rows, cols]
  };

  Kind kind = Kind::kRows;
  int32_t parameter = 0;  // number of the linear, constant or table
  // The tensor's name. Where files have one of several names for it, the first of these that the checkpoint has; if it has
  // none, the first.
  std::vector<std::string> names;
  std::vector<std::string> if_has;  // by name, the tensor whose presence chooses it; empty: the name itself
  std::vector<int64_t> shape;
  std::string head;   // the head that it belongs to, for messages; empty: the encoder
  int32_t first = 0;  // of kRows, kInterleaved, kTaps, kBias; of kColumns: the column
  int32_t count = 0;  // of kInterleaved: parts; of kSoftmaxTaps: heads; of kTiled: copies; of kConv1d and kTaps: taps
  int32_t size = 0;   // of kInterleaved: columns of a head
};

struct Parameters {
  std::vector<LinearSpec> linears;      // by LinearId
  std::vector<ConstantSpec> constants;  // by ValueInfo::constant
  std::vector<TableSpec> tables;        // by TableId
  std::vector<Piece> pieces;
  // What a checkpoint's names may not begin with: parts of it that the configuration does not tell of, and that would be left out.
  std::vector<std::string> refused;
};

}  // namespace peruse

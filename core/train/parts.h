// How the pieces of a program's parameters (core/program/parameters.h) share memory.
#pragma once

#include <cstdint>
#include <span>

#include "core/program/parameters.h"

namespace peruse::train {

// The pieces of one matrix or bias, which share memory.
struct Part {
  Piece::Kind kind;  // kBias, kTable, kConstant, or kRows for all others of a linear
  int32_t parameter;

  bool operator==(const Part&) const = default;
};

inline Part PartOf(const Piece& piece) {
  switch (piece.kind) {
    case Piece::Kind::kBias:
    case Piece::Kind::kTable:
      return {piece.kind, piece.parameter};
    case Piece::Kind::kConstant:
    case Piece::Kind::kTransposed:
    case Piece::Kind::kSoftmaxTaps:
    case Piece::Kind::kTiled:
      return {Piece::Kind::kConstant, piece.parameter};
    default:
      return {Piece::Kind::kRows, piece.parameter};
  }
}

inline int64_t SizeOf(std::span<const int64_t> shape) {
  int64_t size = 1;
  for (const int64_t n : shape) size *= n;
  return size;
}

}  // namespace peruse::train

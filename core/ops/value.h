#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace peruse {

// An operation is a struct of operands and results in its own file, with these functions:
//
//   bool Fits(op, shapes)              the shape rule (shapes.h); holds for every operation of a plan
//   void Compute(op, numbers)          the definition: plain loops over doubles (reference.h)
//   void Gradient(op, numbers, grads)  adds the gradients of operands and parameters; only for operations that families write
//   vector Bound(op, result, numbers)  the largest error of a float32 backend in each cell of the result
//
// Shipped builds link only Fits; tests and the reference backend link all four. Passes and training read these constants of the struct:
//
//   kReads           what a row of its results depends on
//   kKeepsOperands   whether its backward pass reads the values of its operands; true if absent
//   kKeepsResult     whether its backward pass reads the values of its results; false if absent
namespace ops {
struct Shapes;
struct Numbers;
struct Gradients;
}  // namespace ops

// What a row of an operation's results depends on, besides weights and the configuration.
enum class Reads : uint8_t {
  kSameRow,   // the same row of the operands
  kOperands,  // any row of the operands
  kBatch,     // also the batch: its inputs, its texts or its lists of integers
};

// The unit of a row count; its size is known once the batch is known.
enum class Domain : uint8_t {
  kOne,
  kTokens,     // tokens of the ragged batch
  kSequences,  // texts
  kLongest,    // tokens of the longest text
  kChosen,     // requested tokens
  kWords,      // words that a head receives as inputs (core/program/indices.h)
  kLabels,     // labels that a head receives as inputs
  kPairs,      // pairs of words, or of a word and a label
};
inline constexpr size_t kDomains = 8;

// A number of rows or columns: `factor` times the size of `domain`.
struct Extent {
  Domain domain = Domain::kOne;
  int32_t factor = 1;

  bool operator==(const Extent&) const = default;
};

struct Sizes {
  std::array<int64_t, kDomains> of = {1};

  int64_t& operator[](Domain domain) { return of[static_cast<size_t>(domain)]; }
  int64_t operator()(Extent extent) const { return extent.factor * of[static_cast<size_t>(extent.domain)]; }
};

// The number of a matrix in a Program. An invalid Value is an absent operand or result.
struct Value {
  int32_t id = -1;

  bool valid() const { return id >= 0; }
  bool operator==(const Value&) const = default;
};

// The shape of a matrix. A block of columns has the containing matrix as its base.
struct ValueInfo {
  Extent rows;
  Extent cols;
  int32_t base = -1;  // the value whose columns [first_col, first_col + cols) these are; -1 if none
  int32_t first_col = 0;
  int32_t constant = -1;  // number of a matrix that the backend keeps between runs; -1 if the value is computed
};

struct LinearId {
  int32_t id = -1;

  bool valid() const { return id >= 0; }
  bool operator==(const LinearId&) const = default;
};

// The number of a list of integers that each batch supplies (Program::indices).
struct IndexId {
  int32_t id = -1;

  bool valid() const { return id >= 0; }
  bool operator==(const IndexId&) const = default;
};

// The number of an embedding table in host memory (Program::tables).
struct TableId {
  int32_t id = -1;

  bool operator==(const TableId&) const = default;
};

// Layer norm over columns: (x - mean) / sqrt(variance + eps) * weight + bias, with the biased variance.
struct NormArgs {
  Value weight;  // [1, width], constant
  Value bias;    // [1, width], constant; invalid means no bias
  float eps = 0;

  bool valid() const { return weight.valid(); }
};

}  // namespace peruse

// Operands of operations: matrices identified by number, with a width and a symbolic number of rows.
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
//   void Gradient(op, numbers, grads)  adds the gradients of operands and parameters that follow from those of the results;
//                                      only for operations that families write, not for those that the fusing pass creates
//   vector Bound(op, result, numbers)  the largest error of a float32 backend in each cell of the result
//
// Only tests and the reference backend link the last three; shipped builds do not.
namespace ops {
struct Shapes;
struct Numbers;
struct Gradients;
}  // namespace ops

// The quantity that a count is proportional to, known once the batch is known.
enum class Domain : uint8_t {
  kOne,        // always 1
  kTokens,     // tokens of the ragged batch
  kSequences,  // texts
  kLongest,    // tokens of the longest text
  kChosen,     // requested tokens
  kWords,      // words, which a head takes as inputs (core/program/indices.h)
  kLabels,     // labels, likewise
  kPairs,      // pairs of words, or of a word and a label
};
inline constexpr size_t kDomains = 8;

// A number of rows or columns: `factor` times the size of `domain`.
struct Extent {
  Domain domain = Domain::kOne;
  int32_t factor = 1;

  bool operator==(const Extent&) const = default;
};

// The sizes of all domains for one batch.
struct Sizes {
  std::array<int64_t, kDomains> of = {1};

  int64_t& operator[](Domain domain) { return of[static_cast<size_t>(domain)]; }
  int64_t operator()(Extent extent) const { return extent.factor * of[static_cast<size_t>(extent.domain)]; }
};

// A matrix of a Program, by number. An invalid Value is an absent operand or result.
struct Value {
  int32_t id = -1;

  bool valid() const { return id >= 0; }
  bool operator==(const Value&) const = default;
};

// The shape of a Program's matrix. A block of columns has the containing value as its base.
struct ValueInfo {
  Extent rows;
  Extent cols;
  int32_t base = -1;  // the value whose columns [first_col, first_col + cols) these are; -1 if none
  int32_t first_col = 0;
  int32_t constant = -1;  // number of a matrix that the backend keeps between runs; -1 for one run's values
};

// A packed linear layer of a Program, by its number (Program::linears).
struct LinearId {
  int32_t id = -1;

  bool valid() const { return id >= 0; }
  bool operator==(const LinearId&) const = default;
};

// A list of integers that each batch supplies, by number (Program::indices).
struct IndexId {
  int32_t id = -1;

  bool valid() const { return id >= 0; }
  bool operator==(const IndexId&) const = default;
};

// An embedding table in host memory, by its number (Program::tables).
struct TableId {
  int32_t id = -1;

  bool operator==(const TableId&) const = default;
};

// Layer norm over the columns: (x - mean) / sqrt(variance + eps) * weight + bias, with biased variance.
struct NormArgs {
  Value weight;  // [1, width], constant
  Value bias;    // [1, width], constant; invalid means no bias
  float eps = 0;

  bool valid() const { return weight.valid(); }
};

}  // namespace peruse

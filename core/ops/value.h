// What operations work on: matrices that are known by number, width and a symbolic count of rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace peruse {

// An operation is a struct with its operands and results, in a file of its own, and three functions of it:
//
//   bool Fits(op, shapes)              the shape rule (shapes.h); holds for every operation of a plan
//   void Compute(op, numbers)          its meaning: plain loops over doubles (reference.h)
//   void Gradient(op, numbers, grads)  adds to the gradients of its operands and parameters what those of its results bring;
//                                      for the operations that families write, not for what the pass that fuses makes of them
//   vector Bound(op, result, numbers)  how far a float32 backend may be from that, in each cell of the result
//
// The last three are for tests and for the reference backend; no build that is shipped links them.
namespace ops {
struct Shapes;
struct Numbers;
struct Gradients;
}  // namespace ops

// What a count depends on; its size is known when a batch is.
enum class Domain : uint8_t {
  kOne,        // nothing: always 1
  kTokens,     // tokens of the ragged batch
  kSequences,  // texts
  kLongest,    // tokens of the longest text
  kChosen,     // tokens that the caller chose
  kWords,      // what a head is given beside the text (core/program/indices.h): words,
  kLabels,     //   labels,
  kPairs,      //   and pairs of words, or of a word and a label
};
inline constexpr size_t kDomains = 8;

// A count of rows or columns: `factor` for each element of `domain`.
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

// A matrix of a Program, by its number. Not valid: an operand or result that is not there.
struct Value {
  int32_t id = -1;

  bool valid() const { return id >= 0; }
  bool operator==(const Value&) const = default;
};

// How large a matrix of a Program is. A block of columns of another value has that value as its base.
struct ValueInfo {
  Extent rows;
  Extent cols;
  int32_t base = -1;  // value whose columns [first_col, first_col + cols) these are; -1: stands by itself
  int32_t first_col = 0;
  int32_t constant = -1;  // number of the matrix that the backend keeps between runs; -1: of one run
};

// A packed linear layer of a Program, by its number (Program::linears).
struct LinearId {
  int32_t id = -1;

  bool valid() const { return id >= 0; }
  bool operator==(const LinearId&) const = default;
};

// A list of integers that each batch brings, by its number (Program::indices).
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

// Parameters of a layer norm: (x - mean) / sqrt(variance + eps) * weight + bias, biased variance, over the columns.
struct NormArgs {
  Value weight;  // [1, width], constant
  Value bias;    // [1, width], constant; not valid means no bias
  float eps = 0;

  bool valid() const { return weight.valid(); }
};

}  // namespace peruse

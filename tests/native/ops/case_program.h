#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/backend/backend.h"
#include "core/program/token_indices.h"
#include "tests/native/ops/op_case.h"

namespace peruse::testing {

struct HostMatrix {
  int32_t rows = 0;
  int32_t cols = 0;
  std::vector<float> values;
  bool by_token = false;  // each row belongs to a token of the batch

  float at(int64_t row, int64_t col) const { return values[static_cast<size_t>(row * cols + col)]; }
};

// Builds the program of a conformance case. Operands are random, and the same in every call.
class CaseProgram {
 public:
  // `given` are the operands in order; null means random operands.
  CaseProgram(const OpCase& c, const std::vector<HostMatrix>* given);

  // Adds an operand with a row per token: random in [-scale, scale) plus the case's offset, or given values.
  Value Tokens(int32_t cols, float scale = 1);
  Value Tokens(HostMatrix matrix);
  Value Constant(int32_t rows, int32_t cols, float offset = 0, float scale = 1);
  LinearId Linear(int32_t in, int32_t out);
  NormArgs Norm(int32_t width);
  ops::Embed::Lookup Lookup(int32_t rows, int32_t cols, const std::vector<int32_t>& index);
  IndexId Indices(const Index& index, std::vector<int32_t> values);
  // Adds a result, surrounded by sentinels that must not change.
  Value Output(Extent rows, Extent cols);
  Value Output(Extent rows, int32_t cols) { return Output(rows, Extent{Domain::kOne, cols}); }
  template <typename AnyOp>
  void Add(const AnyOp& op) {
    program_.ops.push_back(op);
  }
  // The number of the next ops::Input; its values are those of Tokens(cols).
  int32_t NextInput() const { return static_cast<int32_t>(inputs_.size()); }
  // Returns the next operand without making a value of it.
  HostMatrix Operand(int32_t cols);
  void Bring(std::vector<float> values) { inputs_.push_back(std::move(values)); }

 private:
  friend struct CaseRun;
  friend class GradientCase;
  friend std::vector<HostMatrix> MakeOperands(const OpCase& c);
  friend struct Outcome RunCase(Backend& backend, const OpCase& c, const std::vector<HostMatrix>& operands);
  friend struct Expected RunReference(const OpCase& c, const std::vector<HostMatrix>& operands);

  // A value filled with sentinels. Only the columns [first, first + cols) may be written.
  struct Watched {
    Value value;
    int32_t first;
    int32_t cols;
  };

  HostMatrix Take(HostMatrix made);
  HostMatrix Random(int32_t rows, int32_t cols, bool by_token, float scale, float offset);
  Value Input(Extent rows, Extent cols, std::vector<float> values);
  Value Columns(Value x, int32_t first, Extent cols);
  void WatchBlock();
  int32_t Size(Extent extent) const;

  const OpCase& case_;
  const std::vector<HostMatrix>* given_;
  std::mt19937 random_;
  std::vector<HostMatrix> operands_;
  Program program_;
  std::vector<std::vector<float>> inputs_;
  std::vector<HostMatrix> constants_;
  std::vector<std::pair<HostMatrix, HostMatrix>> linears_;  // pairs of weight and bias
  std::vector<HostMatrix> tables_;
  std::vector<std::vector<int32_t>> indices_;
  std::vector<Watched> watched_;
  std::vector<size_t> outputs_;  // indices into watched_
  std::vector<Value> results_;
};

std::vector<HostMatrix> MakeOperands(const OpCase& c);

struct Outcome {
  Status status;
  std::vector<HostMatrix> outputs;  // the output; then probabilities or kernels, if the case requests them
  std::string stray_write;          // describes a write outside the outputs, if there was one
};
Outcome RunCase(Backend& backend, const OpCase& c, const std::vector<HostMatrix>& operands);

// Reference results, and the error bound of a float32 backend for each cell of each output.
struct Expected {
  std::vector<HostMatrix> outputs;
  std::vector<std::vector<double>> bounds;
};
Expected RunReference(const OpCase& c, const std::vector<HostMatrix>& operands);

}  // namespace peruse::testing

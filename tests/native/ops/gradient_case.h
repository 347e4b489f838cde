#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/ops/reference.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {

// Only operations that families write have gradients.
bool HasGradient(const OpCase& c);

class GradientCase {
 public:
  // extra: the loss also depends on probabilities and kernels.
  explicit GradientCase(const OpCase& c, bool extra = true);

  // A matrix that the results depend on, or its gradient.
  struct Operand {
    std::string name;
    ops::Matrix values;
    ops::Matrix gradient;
    std::vector<float> table;  // an embedding table contains floats: `values`, rounded before each Loss
    int32_t table_id = -1;
  };
  std::vector<Operand>& operands() { return operands_; }

  double Loss();
  void Differentiate();

  const Program& program() const { return case_.program_; }
  const Op& op() const { return case_.program_.ops.back(); }
  const ops::Numbers& numbers() const { return numbers_; }
  const ops::Gradients& gradients() const { return gradients_; }
  const RaggedBatch& batch() const { return batch_; }
  const Sizes& sizes() const { return sizes_; }
  std::span<const std::span<const int32_t>> indices() const { return indices_; }
  const std::vector<Value>& results() const { return case_.results_; }
  std::span<const std::span<const float>> inputs() const { return inputs_; }

 private:
  ops::Matrix New(int32_t rows, int32_t cols);
  void PlaceValues();
  void TameOperands();
  void PlaceLinears();
  void PlaceTables();

  CaseProgram case_;
  std::mt19937 random_{7};
  std::deque<std::vector<double>> memory_;
  RaggedBatch batch_;
  Sizes sizes_;
  std::vector<std::span<const int32_t>> indices_;
  std::vector<std::span<const float>> inputs_;
  std::vector<std::unique_ptr<ops::LinearValues>> linears_;
  std::vector<EmbeddingTable> tables_;
  ops::Numbers numbers_;
  ops::Gradients gradients_;
  std::vector<Operand> operands_;
  std::vector<ops::Matrix> factors_;  // one per result
};

}  // namespace peruse::testing

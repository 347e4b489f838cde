// Scale-invariant fine-tuning (SiFT): virtual adversarial training on normalised embeddings (He et al., 2020, section 4; as in adv_loss.py
// of the authors' DeBERTa code).
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/train/ops/step.h"

namespace peruse::train {

// A model's program with changed embeddings: normalised without weight and bias, then perturbed by ops::Input number 0, then passed to
// their learned norm.
struct PerturbedProgram {
  Program program;
  Value normalised;  // embeddings before the perturbation
  int32_t width = 0;
};

class Sift {
 public:
  // Writes the gradient of the loss with respect to the unperturbed logits, and returns the loss.
  using Loss = std::function<double(const Block& logits, const Block& gradient)>;

  // `weight` multiplies the divergence. `packed` must outlive the object.
  Sift(PerturbedProgram program, const PackedParameters& packed, float weight)
      : program_(std::move(program)), weight_(weight), step_(program_.program, packed) {}

  // Computes the gradients of loss + weight / rows * (sum over rows of the symmetric divergence between unperturbed and perturbed logits),
  // and returns that sum. `perturbation` [tokens, width] is the start of the gradient ascent, and receives its result.
  Result<double> Learn(const BatchInputs& inputs, const StepOptions& options, const Loss& loss, int64_t rows,
                       std::vector<float>* perturbation);
  // Like Learn above, from a random perturbation: normally distributed, truncated at twice its deviation, by options.seed and the number of
  // calls so far.
  Result<double> Learn(const BatchInputs& inputs, const StepOptions& options, const Loss& loss, int64_t rows);
  // Begins the largest pass over such a batch, so that memory is allocated, and returns the bytes it needs.
  Result<int64_t> Rehearse(const BatchInputs& inputs, const StepOptions& options);

 private:
  // Passes over a batch. Their dropout differs, except that both unperturbed passes have the same.
  enum Pass : uint32_t { kClean, kAscent, kDisturbed, kPasses };

  void Draw(uint64_t seed, int64_t tokens);
  Status Begin(Pass pass, const BatchInputs& inputs, StepOptions options, const std::vector<float>& perturbation);
  Status Ascend(const BatchInputs& inputs, const StepOptions& options, std::vector<float>* perturbation);

  const PerturbedProgram program_;
  const float weight_;
  Step step_;
  std::vector<std::span<const float>> matrices_;
  std::vector<float> calm_, clean_, disturbed_;
  std::vector<float> perturbation_;
  uint32_t drawn_ = 0;  // number of perturbations drawn
};

}  // namespace peruse::train

// Scale-invariant fine-tuning (SiFT): virtual adversarial training on normalised embeddings (He et al., 2020, section 4; as in adv_loss.py
// of the authors' DeBERTa code).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/train/step.h"

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

  // `weight` multiplies the divergence. All arguments must outlive the object.
  Sift(const PerturbedProgram& program, const HeldParameters& held, float weight)
      : program_(program), weight_(weight), step_(program.program, held) {}

  // Computes the gradients of loss + weight / rows * (sum over rows of the symmetric divergence between unperturbed and perturbed logits),
  // and returns that sum. `perturbation` [tokens, width] is the start of the gradient ascent, and receives its result.
  Result<double> Learn(const BatchInputs& inputs, const StepOptions& options, const Loss& loss, int64_t rows,
                       std::vector<float>* perturbation);
  // Draws an initial perturbation from a normal distribution, truncated at twice its deviation. `number` identifies the draw.
  void Draw(uint64_t seed, uint32_t number, int64_t tokens, std::vector<float>* perturbation) const;
  // Begins the largest pass over such a batch, so that memory is allocated, and returns the bytes it needs.
  Result<int64_t> Rehearse(const BatchInputs& inputs, const StepOptions& options);

 private:
  // Passes over a batch. Their dropout differs, except that both unperturbed passes have the same.
  enum Pass : uint32_t { kClean, kAscent, kDisturbed, kPasses };

  Status Begin(Pass pass, const BatchInputs& inputs, StepOptions options, const std::vector<float>& perturbation);
  Status Ascend(const BatchInputs& inputs, const StepOptions& options, std::vector<float>* perturbation);

  const PerturbedProgram& program_;
  const float weight_;
  Step step_;
  std::vector<std::span<const float>> matrices_;
  std::vector<float> calm_, clean_, disturbed_;
};

}  // namespace peruse::train

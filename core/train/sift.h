// Scale-invariant fine-tuning (SiFT): virtual adversarial training on normalised embeddings (He et al., 2020, section 4; the loop
// follows the authors' DeBERTa code, adv_loss.py).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/train/step.h"

namespace peruse::train {

// A model's program whose embeddings are normalised, without parameters, before their norm, and perturbed: ops::Input number 0 is added.
struct PerturbedProgram {
  Program program;
  Value normalised;  // before the perturbation
  int32_t width = 0;
};

class Sift {
 public:
  // Writes the loss's gradient with respect to the clean logits, and returns the loss.
  using Loss = std::function<double(const Block& logits, const Block& gradient)>;

  // `weight` multiplies the divergence. All arguments outlive this.
  Sift(const PerturbedProgram& program, const HeldParameters& held, float weight)
      : program_(program), weight_(weight), step_(program.program, held) {}

  // Computes the gradients of loss + weight / rows * (sum over rows of the symmetric divergence between clean and perturbed logits) and
  // returns that sum. `perturbation` [tokens, width] is the start of the ascent, and receives its result.
  Result<double> Learn(const BatchInputs& inputs, const StepOptions& options, const Loss& loss, int64_t rows,
                       std::vector<float>* perturbation);
  // Draws an initial perturbation: normal, truncated at twice its deviation. `number` identifies the draw.
  void Draw(uint64_t seed, uint32_t number, int64_t tokens, std::vector<float>* perturbation) const;
  // Begins the largest pass of such a batch and returns its bytes.
  Result<int64_t> Rehearse(const BatchInputs& inputs, const StepOptions& options);

 private:
  // Passes of one batch, with different dropout. The clean pass runs twice with the same.
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

// The generator of replaced-token detection (Clark et al., "ELECTRA", 2020) predicts masked tokens; a discriminator detects its
// predictions. They share token embeddings in one of two ways:
//   one table       both losses train it. The discriminator's tensors hold it and its moments, and the generator copies it
//   disentangled    E_D = stop_gradient(E_G) + E_delta (He et al., "DeBERTaV3", 2021, section 3.3): the generator's loss trains E_G, the
//                   discriminator's loss E_delta. The discriminator's tensors hold E_D, which checkpoints store.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/float_buffer.h"
#include "core/base/status.h"
#include "core/families/family.h"
#include "core/train/recipes/adamw.h"
#include "core/train/recipes/objective.h"
#include "core/train/recipes/trainee.h"

namespace peruse::train {

class Generator {
 public:
  // Precondition: both models have weights, and the training of the discriminator has begun (Trainee::BeginTraining). Both must outlive it.
  Generator(Trainee& generator, Trainee& discriminator, bool disentangled);

  // Must be called once, before the discriminator's AdamW exists. Errors: kShapeMismatch if the two tables differ in size; kOutOfMemory.
  Status Prepare(const AdamWOptions& adamw, uint64_t seed);
  int64_t bytes() const;
  int64_t trained() const;

  void ZeroGradients() { trainee_.packed()->ZeroGradients(); }
  // Replaces masked tokens by samples, with targets that mark tokens that differ from the text. With options.backward it also trains the
  // generator; its loss is the sum over tokens divided by `mass`. Samples depend on options.seed, number and the number of the first text,
  // unless `sampled` gives them, one per masked token.
  Result<double> Replace(const Part& masked, const StepOptions& options, double mass, uint32_t first,
                         std::span<const int32_t> sampled, std::vector<Example>* replaced);
  Result<int64_t> Rehearse(const Part& masked, const StepOptions& options);
  // Updates both models by their gradients. Returns the larger norm before clipping; if it is NaN or infinite, nothing changes.
  double Update(AdamW& discriminator);

  void Keep(std::vector<float>* state) const;
  void Restore(const float* state);

 private:
  struct Table {
    WeightTensor* own;              // the tensor in the generator
    WeightTensor* theirs;           // the same tensor in the discriminator
    std::vector<float> difference;  // E_delta of the tensor, if disentangled
  };

  WeightTensors& weight_tensors() { return trainee_.weight_tensors(); }
  Status Link();
  Status Begin(const Part& masked, StepOptions options);
  void Follow();

  Trainee& trainee_;
  Trainee& discriminator_;
  const bool disentangled_;
  std::vector<Table> tables_;
  Program program_;
  std::unique_ptr<Step> step_;
  std::unique_ptr<AdamW> optimiser_;
  ExampleBatch batch_;
  std::vector<int32_t> labels_;
};

// Returns the configuration of a new generator: a quarter of the discriminator's width for ELECTRA, otherwise half of its layers.
// `config_json` is the discriminator's, and valid.
std::string GeneratorConfig(std::string_view config_json, const Family& family, const ModelConfig& discriminator);

}  // namespace peruse::train

// The generator of replaced-token detection (Clark et al., "ELECTRA", 2020): it learns masked words, and what it tells in their place is
// what a discriminator has to find. Their embeddings are shared, in one of two ways:
//
//   one table       both losses train it: the discriminator's masters hold it and its moments, the generator's follow
//   disentangled    E_D = stop_gradient(E_G) + E_delta (He et al., "DeBERTaV3", 2021, section 3.3): the generator's loss trains E_G, the
//                   discriminator's E_delta. The discriminator's masters hold E_D, which is what a checkpoint gets.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/float_buffer.h"
#include "core/base/status.h"
#include "core/train/adamw.h"
#include "core/train/objective.h"
#include "core/train/trainee.h"

namespace peruse::train {

class Generator {
 public:
  // Both have their weights, or what they start with; the discriminator's masters are allocated, the generator's not. They outlive this.
  Generator(Trainee& generator, Trainee& discriminator, bool disentangled);

  // kShapeMismatch: the tables are of different sizes; kOutOfMemory. Once; the discriminator's AdamW is made behind it.
  Status Prepare(const AdamWOptions& adamw, uint64_t seed);
  // Bytes beside those of a step.
  int64_t bytes() const;
  int64_t trained() const;

  void ZeroGradients() { masters().ZeroGradients(); }
  // From texts with masked words to the same with the generator's words, and targets that say which are not the text's. With
  // options.backward it learns, too: its loss is the sum over words divided by `mass`. Words are drawn by options.seed, number and the
  // first text's place, or are those of `sampled`, one for each masked word.
  Result<double> Replace(std::span<const Example* const> masked, const StepOptions& options, double mass,
                         uint32_t first, std::span<const int32_t> sampled, std::vector<Example>* replaced);
  // Begins a step of these; gives its bytes.
  Result<int64_t> Rehearse(std::span<const Example* const> masked, const StepOptions& options);
  // An update of both by their gradients. Gives the larger norm before clipping; NaN or infinite: nothing was changed.
  double Update(AdamW& discriminator);

  // What validation keeps of it.
  void Keep(std::vector<float>* state) const;
  void Restore(const float* state);

 private:
  struct Table {
    Master* own;                    // of the generator
    Master* theirs;                 // of the discriminator
    std::vector<float> difference;  // disentangled: E_delta
  };

  Masters& masters() { return trainee_.masters(); }
  Status Link();
  Status Begin(std::span<const Example* const> masked, StepOptions options);
  void Follow();

  Trainee& trainee_;
  Trainee& discriminator_;
  const bool disentangled_;
  std::vector<Table> tables_;
  Program program_;
  std::unique_ptr<Step> step_;
  std::unique_ptr<AdamW> optimiser_;
  RaggedBatch batch_;
  std::vector<ModelInput> inputs_;
  std::vector<int32_t> chosen_, labels_;
};

}  // namespace peruse::train

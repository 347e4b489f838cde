// The generator of replaced-token detection (Clark et al., "ELECTRA", 2020): it predicts masked tokens, and a discriminator detects its
// predictions. Their token embeddings are shared in one of two ways:
//
//   one table       both losses train it: the discriminator's masters hold it and its moments, and the generator copies it
//   disentangled    E_D = stop_gradient(E_G) + E_delta (He et al., "DeBERTaV3", 2021, section 3.3): the generator's loss trains E_G, the
//                   discriminator's E_delta. The discriminator's masters hold E_D, which checkpoints store.
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
  // Both models have loaded or initialised weights; the discriminator's masters are allocated, the generator's are not. They outlive this.
  Generator(Trainee& generator, Trainee& discriminator, bool disentangled);

  // Call once, before creating the discriminator's AdamW. Errors: kShapeMismatch if the tables' sizes differ; kOutOfMemory.
  Status Prepare(const AdamWOptions& adamw, uint64_t seed);
  // Bytes in addition to a step's.
  int64_t bytes() const;
  int64_t trained() const;

  void ZeroGradients() { masters().ZeroGradients(); }
  // Replaces masked tokens by sampled ones, with targets that mark the tokens that differ from the text. With options.backward the
  // generator also learns: its loss is the sum over tokens divided by `mass`. Tokens are sampled by options.seed, number and the first
  // text's number, or given by `sampled`, one per masked token.
  Result<double> Replace(std::span<const Example* const> masked, const StepOptions& options, double mass,
                         uint32_t first, std::span<const int32_t> sampled, std::vector<Example>* replaced);
  // Begins a step for these texts and returns its bytes.
  Result<int64_t> Rehearse(std::span<const Example* const> masked, const StepOptions& options);
  // Updates both models by their gradients. Returns the larger norm before clipping; if it is NaN or infinite, nothing changes.
  double Update(AdamW& discriminator);

  // Appends the state that validation restores.
  void Keep(std::vector<float>* state) const;
  void Restore(const float* state);

 private:
  struct Table {
    Master* own;                    // the generator's
    Master* theirs;                 // the discriminator's
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

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/status.h"
#include "core/train/recipes/generator.h"
#include "core/train/recipes/teach_options.h"

namespace peruse::train {

// Masks tokens of a text (Devlin et al., "BERT", 2019, section 3.1). In the result, `chosen` are the positions to predict and `labels` the
// original ids; in `text`, `chosen` are the positions that may be masked. Equal seed, draw and number give equal results.
Example Masked(const Example& text, const MaskRecipe& recipe, uint64_t seed, uint32_t draw, uint32_t number);

// Masks the texts of each update. With a generator, also replaces the masked tokens by its predictions, and trains it.
class Pretraining {
 public:
  // All arguments must outlive the object. `generator` is null unless the goal is kReplaced.
  Pretraining(const TeachOptions& options, Trainee& model, Trainee* generator);

  // Must be called once, after the model's tensors are allocated and before their AdamW exists. Errors: see Generator::Prepare.
  Status Prepare();
  // Returns the bytes that the generator needs for this batch. Errors: kOutOfMemory.
  Result<int64_t> Rehearse(const Part& masked, const StepOptions& options);
  int64_t trained() const {
    return generator_ ? generator_->trained() : 0;
  }  // number of trained parameters of the generator

  // Returns these texts with masked tokens, valid until the next call. `draw` identifies the masks.
  Part Mask(std::span<const Example* const> texts, uint32_t draw);
  // Masks the texts in place.
  void MaskAll(std::vector<Example>* texts, uint32_t draw);

  // Begins an update on masked texts.
  void BeginUpdate(const Part& masked);
  // Returns the examples of a part that the model learns from, valid until the next call. Trains the generator, if there is one.
  Result<Part> Learn(const Part& masked, const StepOptions& options);
  // Like Learn, but without training. `first` is the number of the first text.
  Result<Part> Replace(const Part& masked, const StepOptions& options, uint32_t first);
  // Weight of the model's loss, relative to the generator's.
  double weight() const { return generator_ ? double{options_.detection_weight} : 1; }
  double loss() const { return loss_; }  // loss of the generator in this update
  // Updates model and generator. Returns the norm of the gradients before clipping.
  double Update(AdamW& model) { return generator_ ? generator_->Update(model) : model.Update(); }

  void Keep(std::vector<float>* state) const;
  void Restore(const float* state);

 private:
  Result<Part> Replaced(const Part& masked, const StepOptions& options, double mass, uint32_t first);

  const TeachOptions& options_;
  Trainee& model_;
  std::unique_ptr<Generator> generator_;
  std::vector<Example> masked_;    // texts of the current update
  std::vector<Example> replaced_;  // texts of the current part
  double words_ = 0;               // number of masked tokens of the update
  uint32_t done_ = 0;              // number of texts of the update that Learn has returned
  double loss_ = 0;
};

}  // namespace peruse::train

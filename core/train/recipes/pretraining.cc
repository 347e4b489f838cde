#include "core/train/recipes/pretraining.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/train/memory/random_stream.h"

namespace peruse::train {

Example Masked(const Example& text, const MaskRecipe& recipe, uint64_t seed, uint32_t draw, uint32_t number) {
  const RandomStream random(seed, Purpose::kMaskedTokens);
  Example masked = {.ids = text.ids, .types = text.types, .chosen = text.chosen};
  std::vector<int32_t>& places = masked.chosen;
  const auto wanted = static_cast<size_t>(std::lround(recipe.share * static_cast<float>(places.size())));
  const size_t count = std::min(places.size(), std::max<size_t>(1, wanted));
  for (size_t i = 0; i < count; ++i) {
    const RandomStream::Words words = random.At(i, number, draw);
    std::swap(places[i], places[i + words[0] % (places.size() - i)]);
    int32_t& id = masked.ids[static_cast<size_t>(places[i])];
    const double fate = RandomStream::Unit(words[1]);
    if (fate < double{recipe.masked}) {
      id = recipe.mask_id;
    } else if (fate < double{recipe.masked} + double{recipe.random}) {
      id = static_cast<int32_t>(words[2] % static_cast<uint32_t>(recipe.vocabulary));
    }
  }
  places.resize(count);
  std::sort(places.begin(), places.end());
  for (const int32_t place : places) masked.labels.push_back(text.ids[static_cast<size_t>(place)]);
  return masked;
}

Pretraining::Pretraining(const TeachOptions& options, Trainee& model, Trainee* generator)
    : options_(options), model_(model) {
  if (generator != nullptr) generator_ = std::make_unique<Generator>(*generator, model, options.disentangled);
}

Status Pretraining::Prepare() {
  if (!generator_) return OkStatus();
  PERUSE_RETURN_IF_ERROR(generator_->Prepare(options_.adamw, options_.seed));
  model_.packed()->Pack();
  return OkStatus();
}

Result<int64_t> Pretraining::Rehearse(const Part& masked, const StepOptions& options) {
  if (!generator_) return int64_t{0};
  PERUSE_ASSIGN_OR_RETURN(const int64_t bytes, generator_->Rehearse(masked, options));
  return generator_->bytes() + bytes;
}

void Pretraining::MaskAll(std::vector<Example>* texts, uint32_t draw) {
  uint32_t number = 0;
  for (Example& text : *texts) text = Masked(text, options_.masking, options_.seed, draw, number++);
}

Part Pretraining::Mask(std::span<const Example* const> texts, uint32_t draw) {
  masked_.clear();
  for (const Example* text : texts) {
    masked_.push_back(Masked(*text, options_.masking, options_.seed, draw, static_cast<uint32_t>(masked_.size())));
  }
  Part part;
  for (const Example& example : masked_) part.push_back(&example);
  return part;
}

void Pretraining::BeginUpdate(const Part& masked) {
  words_ = loss_ = 0;
  done_ = 0;
  for (const Example* example : masked) words_ += static_cast<double>(example->chosen.size());
  if (generator_) generator_->ZeroGradients();
}

Result<Part> Pretraining::Learn(const Part& masked, const StepOptions& options) {
  return Replaced(masked, options, words_, std::exchange(done_, done_ + static_cast<uint32_t>(masked.size())));
}

Result<Part> Pretraining::Replace(const Part& masked, const StepOptions& options, uint32_t first) {
  return Replaced(masked, options, /*mass=*/1, first);
}

Result<Part> Pretraining::Replaced(const Part& masked, const StepOptions& options, double mass, uint32_t first) {
  if (!generator_) return masked;
  PERUSE_ASSIGN_OR_RETURN(const double loss,
                          generator_->Replace(masked, options, mass, first, /*sampled=*/{}, &replaced_));
  loss_ += loss;
  Part part;
  for (const Example& example : replaced_) part.push_back(&example);
  return part;
}

void Pretraining::Keep(std::vector<float>* state) const {
  if (generator_) generator_->Keep(state);
}

void Pretraining::Restore(const float* state) {
  if (generator_) generator_->Restore(state);
}

}  // namespace peruse::train

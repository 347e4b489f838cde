#include "core/train/teacher.h"

namespace peruse::train {

Status Teacher::PreparePretraining() {
  if (!masks()) return OkStatus();
  if (generator_) {
    PERUSE_RETURN_IF_ERROR(generator_->Prepare(options_.adamw, options_.seed));
    trainee_.masters().Hold();
  }
  // Validation uses the same masks in every epoch.
  Part texts;
  for (const Example& example : sets_[kValidation]) texts.push_back(&example);
  MaskedTexts(texts, /*draw=*/0);
  sets_[kValidation].swap(masked_);
  return OkStatus();
}

Teacher::Part Teacher::MaskedTexts(std::span<const Example* const> texts, uint32_t draw) {
  masked_.clear();
  for (const Example* text : texts) {
    masked_.push_back(Masked(*text, options_.masking, options_.seed, draw, static_cast<uint32_t>(masked_.size())));
  }
  Part part;
  for (const Example& example : masked_) part.push_back(&example);
  return part;
}

Result<Teacher::Part> Teacher::Replaced(const Part& masked, bool learns, double mass, uint32_t first) {
  PERUSE_ASSIGN_OR_RETURN(const double loss,
                          generator_->Replace(masked, Options(learns), mass, first, /*sampled=*/{}, &replaced_));
  progress_.generator_loss += loss;
  Part part;
  for (const Example& example : replaced_) part.push_back(&example);
  return part;
}

}  // namespace peruse::train

// Masked words (Devlin et al., "BERT", 2019, section 3.1): which tokens of a text are chosen to be told, and what stands in their place.
#pragma once

#include <cstdint>
#include <vector>

#include "core/train/objective.h"

namespace peruse::train {

struct MaskRecipe {
  float share = 0.15f;   // of the tokens that are not special; one of a text at least
  float masked = 0.8f;   // of the chosen: become the mask token
  float random = 0.1f;   // become any token; the rest stays as it is
  int32_t mask_id = -1;  // of the tokenizer
  int32_t vocabulary = 0;
};

// The text with its words masked: ids as the model reads them; `chosen`; `labels` are what stood there. `text.chosen` are the places that
// may be masked. The same seed, draw and number give the same.
Example Masked(const Example& text, const MaskRecipe& recipe, uint64_t seed, uint32_t draw, uint32_t number);

}  // namespace peruse::train

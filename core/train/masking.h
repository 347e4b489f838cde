// Masked tokens (Devlin et al., "BERT", 2019, section 3.1): selects tokens of a text to predict, and replaces them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/train/objective.h"

namespace peruse::train {

struct MaskRecipe {
  float share = 0.15f;   // of the non-special tokens; at least one per text
  float masked = 0.8f;   // share of the chosen that become the mask token
  float random = 0.1f;   // share that become a random token; the others stay
  int32_t mask_id = -1;  // from the tokenizer
  int32_t vocabulary = 0;
};

// Returns the text with masked tokens: `chosen`, and `labels` with the original ids. `text.chosen` are the positions that may be masked.
// The same seed, draw and number give the same result.
Example Masked(const Example& text, const MaskRecipe& recipe, uint64_t seed, uint32_t draw, uint32_t number);

}  // namespace peruse::train

#pragma once

#include <cstdint>
#include <vector>

#include "core/train/recipes/objective.h"

namespace peruse::train {

struct MaskRecipe {
  float share = 0.15f;  // share of tokens to predict, without special tokens; at least one per text
  float masked = 0.8f;  // share of these that become the mask token
  float random = 0.1f;  // share of these that become a random token; the others do not change
  int32_t mask_id = -1;
  int32_t vocabulary = 0;
};

// Masks tokens of a text (Devlin et al., "BERT", 2019, section 3.1). In the result, `chosen` are the positions to predict and `labels` the
// original ids; in `text`, `chosen` are the positions that may be masked. Equal seed, draw and number give equal results.
Example Masked(const Example& text, const MaskRecipe& recipe, uint64_t seed, uint32_t draw, uint32_t number);

}  // namespace peruse::train

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/train/ops/loss.h"
#include "core/train/recipes/adamw.h"

namespace peruse::train {

enum class Method : uint8_t {
  kHead,      // only the head, on features that the encoder computes once
  kLayers,    // the head and the last layers, on outputs of the layer below, which are computed once
  kLora,      // low-rank updates of linear layers, and new tensors of the head
  kFull,      // all tensors
  kContrast,  // the last layers of a sentence embedder, so that texts with one label get similar vectors; then the head
};

// How kContrast trains. Both recipes were chosen on development sets (docs/internals/training.md).
struct ContrastRecipe {
  int32_t updates;      // before the head is solved
  float rate_factor;    // multiplies the learning rate
  double logit_factor;  // multiplies the solved logits of two labels; for more labels it grows with their root
};
inline constexpr ContrastRecipe kUsualContrast = {8, 1, 0.8};
// Used where the head alone is already right for most texts.
inline constexpr ContrastRecipe kBriefContrast = {4, 0.75f, 1.3};

struct MaskRecipe {
  float share = 0.15f;  // share of tokens to predict, without special tokens; at least one per text
  float masked = 0.8f;  // share of these that become the mask token
  float random = 0.1f;  // share of these that become a random token; the others do not change
  int32_t mask_id = -1;
  int32_t vocabulary = 0;
};

struct TeachOptions {
  Method method = Method::kFull;
  int32_t layers = 2;  // number of layers for kLayers
  int32_t lora_rank = 8;
  float lora_alpha = 16;
  std::vector<std::string> lora_targets = {"query", "value", "query_proj", "value_proj", "in_proj",
                                           "q_lin", "v_lin", "attn.q",     "attn.v",     "Wqkv"};
  bool freeze_words = false;
  ContrastRecipe contrast = kUsualContrast;
  int32_t epochs = 3;
  int32_t batch_size = 16;      // examples per update
  int32_t batch_tokens = 2048;  // maximum tokens in memory per step
  AdamWOptions adamw;           // Begin sets its number of steps
  float dropout = 0.1f;
  float attention_dropout = 0.1f;
  CrossEntropyOptions cross_entropy;
  MaskRecipe masking;           // for kMaskedWords and kReplaced; every update draws new masks
  float detection_weight = 50;  // kReplaced: weight of the discriminator's loss, relative to the generator's
  bool disentangled = false;    // kReplaced: how the models share token embeddings (generator.h)
  std::vector<float> class_weights;
  float sift = 0;              // weight of the divergence in scale-invariant fine-tuning; 0 disables it
  int32_t patience = 0;        // stops after this many validations without improvement; 0 disables stopping
  int32_t validate_every = 1;  // epochs between validations; the last epoch is always validated
  bool keep_best = true;       // whether to return the state of the best validation instead of the last state
  uint64_t seed = 42;
  int32_t threads = 1;
};

}  // namespace peruse::train

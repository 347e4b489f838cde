// What stands on an encoder: each head turns hidden states into logits.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/backend/backend.h"
#include "core/models/config.h"
#include "core/tensor/ragged_batch.h"
#include "core/weights/binder.h"

namespace peruse {

class HeadLayer {
 public:
  virtual ~HeadLayer() = default;

  virtual void Declare(Binder& binder) = 0;
  // Appends to `rows`, which is empty, the rows of the hidden states that the head reads, one row of logits for each.
  // None: all.
  virtual void RowsRead(const RaggedBatch& batch, std::vector<int32_t>* rows) const {
    (void)batch;
    (void)rows;
  }
  virtual int32_t logit_cols() const = 0;
  // hidden: the rows read [rows, hidden_size]; logits: [rows, logit_cols]. The masked-LM head takes any rows.
  virtual void Forward(Backend& backend, Tensor hidden, const RaggedBatch& batch, Tensor logits) = 0;
};

// The head of this kind as the family has it; null for Head::kNone. kUnsupported where the family has none.
// `config` outlives the head.
Result<std::unique_ptr<HeadLayer>> CreateHead(Head head, const ModelConfig& config);

// The family's masked-LM and replaced-token-detection heads (masked_lm.cc, replaced_token.cc).
std::unique_ptr<HeadLayer> CreateMaskedLmHead(const ModelConfig& config);
std::unique_ptr<HeadLayer> CreateReplacedTokenHead(const ModelConfig& config);

}  // namespace peruse

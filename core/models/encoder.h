// What all encoders have in common.
#pragma once

#include <span>

#include "core/backend/backend.h"
#include "core/models/config.h"
#include "core/models/inspection.h"
#include "core/tensor/ragged_batch.h"
#include "core/weights/binder.h"

namespace peruse {

class Encoder {
 public:
  virtual ~Encoder() = default;

  // Names the tensors that the encoder needs.
  virtual void Declare(Binder& binder) = 0;
  // After loading: computes what depends on weights alone.
  virtual Status Fold(Backend& backend) {
    (void)backend;
    return OkStatus();
  }
  // All layers. x: the embedding output [rows, hidden]; out: of the last layer's output the rows that `kept` names, in that
  // order, or all if it is empty: [kept rows, hidden].
  virtual void Forward(Backend& backend, Tensor x, const RaggedBatch& batch, Inspection& inspection,
                       std::span<const int32_t> kept, Tensor out) = 0;
  // The operations that Forward and Fold will ask for; the precision is the caller's.
  virtual Outlook outlook() const = 0;
  // Heads of the attention maps.
  virtual int32_t attention_heads() const = 0;
};

}  // namespace peruse

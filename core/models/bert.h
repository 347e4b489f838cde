// BERT (Devlin et al., 2018) and ELECTRA (Clark et al., 2020), whose encoders are alike. Reference classes: BertModel,
// ElectraModel.
#pragma once

#include <string>
#include <vector>

#include "core/models/encoder.h"
#include "core/models/feed_forward.h"

namespace peruse {

class BertEncoder : public Encoder {
 public:
  explicit BertEncoder(const ModelConfig& config);

  void Declare(Binder& binder) override;
  void Forward(Backend& backend, Tensor x, const RaggedBatch& batch, Inspection& inspection,
               std::span<const int32_t> kept, Tensor out) override;
  int32_t attention_heads() const override { return config_.num_attention_heads; }
  Outlook outlook() const override {
    return {.head_dim = config_.hidden_size / config_.num_attention_heads, .relative_positions = has_distances()};
  }

 private:
  struct Layer {
    Weight query_key_value;   // hidden -> 3 hidden
    Tensor distance;          // [2 * max positions - 1, hidden] distance_embedding, the same for every head
    Weight attention_output;  // hidden -> hidden
    Norm attention_norm;
    FeedForward feed_forward;
  };

  // out = norm(output(attention(x)) + x)      x, out [rows, hidden]
  void SelfAttention(Backend& backend, const Layer& layer, Tensor x, const RaggedBatch& batch, Inspection& inspection,
                     std::span<const int32_t> kept, Tensor out);

  bool has_distances() const { return config_.position_type != PositionType::kAbsolute; }

  const ModelConfig& config_;
  std::vector<int32_t> slots_;  // 0, 1, ...: row of a distance within distance_embedding
  std::vector<Layer> layers_;
};

}  // namespace peruse

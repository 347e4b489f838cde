// DeBERTa v1, v2 and v3 (He et al., "DeBERTa: Decoding-enhanced BERT with Disentangled Attention", 2020; "DeBERTaV3",
// 2021). Reference classes: DebertaModel, DebertaV2Model.
//
// The versions differ in the layout of the projections, in the relative table (v2: normalised, log buckets) and in a
// convolution after the first layer; v1's are brought to v2's layout while loading (spec: end of Part D).
#pragma once

#include <string>
#include <vector>

#include "core/models/encoder.h"
#include "core/models/feed_forward.h"
#include "core/models/relative_positions.h"

namespace peruse {

class DebertaEncoder : public Encoder {
 public:
  // enhanced_mask_decoder: the last layer becomes the decoder of pre-training (spec: Part D6).
  DebertaEncoder(const ModelConfig& config, bool enhanced_mask_decoder);

  void Declare(Binder& binder) override;
  Status Fold(Backend& backend) override;
  void Forward(Backend& backend, Tensor x, const RaggedBatch& batch, Inspection& inspection,
               std::span<const int32_t> kept, Tensor out) override;
  int32_t attention_heads() const override { return config_.num_attention_heads; }
  Outlook outlook() const override {
    return {.head_dim = config_.deberta.head_dim, .relative_positions = has_relative(), .conv1d = has_convolution()};
  }

 private:
  struct Layer {
    Weight query_key_value;      // hidden -> 3 hidden
    Weight position_projection;  // hidden -> key, query of the relative table, where it has its own
    Tensor position_key;         // [slots, hidden] folded; with c2p
    Tensor position_query;       // [slots, hidden] folded; with p2c
    Weight attention_output;     // hidden -> hidden
    Norm attention_norm;
    FeedForward feed_forward;
  };
  // A run's view of the relative positions.
  struct Run {
    Backend& backend;
    const RaggedBatch& batch;
    Inspection& inspection;
    std::span<const int32_t> slots;
  };

  bool has_c2p() const { return config_.deberta.relative_attention && config_.deberta.content_to_position; }
  bool has_p2c() const { return config_.deberta.relative_attention && config_.deberta.position_to_content; }
  bool has_relative() const { return has_c2p() || has_p2c(); }
  bool is_v1() const { return config_.architecture == Architecture::kDeberta; }
  bool shares_projection() const { return !is_v1() && config_.deberta.share_att_key; }
  bool has_convolution() const { return config_.deberta.conv_kernel_size > 0; }

  void DeclareProjections(Binder& binder, const std::string& self, Layer& layer);
  void DeclarePositionProjection(Binder& binder, const std::string& self, Layer& layer);
  void FoldLayer(Backend& backend, Tensor table, const Layer& layer);
  // `kept`: the rows of the output that are wanted (Encoder::Forward).
  using Kept = std::span<const int32_t>;
  void Attention(const Run& run, const Layer& layer, Tensor queries_from, Tensor keys_from, Kept kept, Tensor out);
  void LayerForward(const Run& run, const Layer& layer, Tensor queries_from, Tensor keys_from, Kept kept, Tensor out);
  void FirstLayerWithConvolution(const Run& run, Tensor x, Kept kept, Tensor out);
  void MaskDecoder(const Run& run, Tensor hidden, Kept kept, Tensor out);

  const ModelConfig& config_;
  const bool enhanced_mask_decoder_;
  RelativeSlots slots_;
  std::vector<int32_t> position_ids_;  // of MaskDecoder's run
  Tensor relative_table_;              // [slots, hidden]; only read while folding
  Norm relative_norm_;
  Weight convolution_;
  Norm convolution_norm_;
  Tensor positions_;  // [max positions, hidden], mask decoder only
  std::vector<Layer> layers_;
};

}  // namespace peruse

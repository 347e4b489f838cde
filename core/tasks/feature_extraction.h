// Feature extraction: the encoder's hidden states, pooled to one vector a text or as they are (transformers'
// FeatureExtractionPipeline and sentence-transformers' Pooling; spec: pipelines.md section 6).
//
// Input:   {"text": string}
// Options: pooling     "none" (every token, special ones included; the default), "cls", "mean", "max"
//          layer       which hidden state: 0 is the embeddings, 1 the first layer, ..., -1 the last (the default)
//          normalize   divide each vector by its length (default false)
//          truncation  cut texts that are too long (default false: text_too_long)
// Result:  {"dims": [tokens, hidden_size] or [hidden_size], "data": [number, ...]}, row-major
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/tasks/task.h"

namespace peruse {

class FeatureExtraction : public Task {
 public:
  FeatureExtraction(const Tokenizer& tokenizer, Model& model) : Task(tokenizer, model) {}

 protected:
  Status Read(JsonValue inputs, JsonValue options) override;
  int32_t HiddenState() const override { return layer_; }
  Status Collect(size_t index, std::span<const float> hidden) override;
  void Write(JsonWriter& writer) const override;

 private:
  enum class Pooling { kNone, kCls, kMean, kMax };

  Status ReadOptions(JsonValue options);
  // hidden: [tokens, width]
  std::vector<float> Pool(std::span<const float> hidden, size_t width) const;

  Pooling pooling_ = Pooling::kNone;
  bool normalize_ = false;
  int32_t layer_ = 0;  // 0: embeddings; as many as there are layers: the last
  EncodeOptions encode_options_;
  std::vector<std::vector<float>> results_;
};

}  // namespace peruse

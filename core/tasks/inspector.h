// Looking inside: one text or pair as the model sees it, with attention maps, span kernels and hidden states.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/tasks/task.h"

namespace peruse {

struct InspectionRequest {
  std::vector<TextInput> inputs;        // exactly one
  bool output_attentions = false;       // attention probabilities, and the diagonal concentration of every head's map
  bool output_span_kernels = false;     // the kernels of ConvBERT's (or DynamicConv's) convolution heads
  bool output_hidden_states = false;    // the embedding output and the output of every layer
  bool output_attention_terms = false;  // DeBERTa's scores before the softmax, in their terms
  std::optional<std::vector<int32_t>> layers;  // only of these; unset: of all
  bool truncation = false;                     // cut a text that is too long; else kTextTooLong
};

struct InspectedToken {
  std::string token;
  int32_t id;
  TextSpan span;  // of the token's own text
  bool special;
  int32_t sequence;  // 0: text, 1: pair, -1: neither
};

struct InspectedArray {
  std::vector<int64_t> dims;
  std::span<const float> values;  // row by row; they live until the model's next run
};

// Of one layer. What a model lacks is empty.
struct InspectedTerms {
  std::vector<int64_t> dims;  // [heads, tokens, tokens]
  std::vector<float> content_to_content, content_to_position, position_to_content;
};

struct InspectionResult {
  std::vector<InspectedToken> tokens = {};
  // By layer; empty when not asked for.
  std::vector<InspectedArray> attentions = {};     // [heads, tokens, tokens]
  std::vector<InspectedArray> span_kernels = {};   // [tokens, heads, kernel_size]
  std::vector<InspectedArray> hidden_states = {};  // [tokens, hidden_size]
  std::vector<InspectedTerms> attention_terms = {};
  std::vector<std::vector<double>> diagonal_concentration = {};  // [layers][heads]
};

class Inspector : public TaskOf<InspectionRequest, InspectionResult> {
 public:
  using TaskOf::TaskOf;
  Status Start() override;

 protected:
  std::vector<OutputId> Wanted() const override;
  Status Collect(const Reading& reading, size_t text) override;

 private:
  std::vector<InspectedToken> Tokens(const text::Encoding& tokens) const;
  // The numbers from 0 to `count` that are asked for.
  std::vector<int32_t> Layers(int32_t count) const;
  Status CollectTerms(int32_t tokens, std::vector<InspectedTerms>* found) const;
  std::vector<double> Concentrations(std::span<const float> maps, int32_t tokens) const;
};

}  // namespace peruse

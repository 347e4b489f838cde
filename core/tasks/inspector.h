// Looking inside: one text or pair as the model sees it, with attention maps, span kernels and hidden states.
//
// Input:   {"text": string, "text_pair"?: string}, exactly one
// Options: output_attentions     attention probabilities, and the diagonal concentration of every head's map
//          output_span_kernels   the kernels of ConvBERT's (or DynamicConv's) convolution heads
//          output_hidden_states  the embedding output and the output of every layer
//          truncation            cut a text that is too long (default false: text_too_long)
// Result:  {"tokens": [{"token", "id", "start", "end", "special", "sequence": 0 | 1 | null}],
//           "attentions"?: [array of [heads, tokens, tokens]], "diagonal_concentration"?: [layers][heads],
//           "span_kernels"?: [array of [tokens, heads, kernel_size]], "hidden_states"?: [array of [tokens, hidden_size]]}
// An array is {"array": number, "dims": [...]}; its floats are array(number), because they are too many for JSON.
// "start" and "end" are UTF-16 indices of the token's own text. A concentration of null is infinite.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/tasks/task.h"

namespace peruse {

class Inspector : public Task {
 public:
  Inspector(const Tokenizer& tokenizer, Model& model) : Task(tokenizer, model) {}

  // The floats of an array of the last result, row by row; they live until the model's next run. Empty: no such array.
  std::span<const float> array(size_t index) const;

 protected:
  Status Read(JsonValue inputs, JsonValue options) override;
  RunOptions run_options() const override;
  Status Collect(size_t index, std::span<const float> outputs) override;
  void Write(JsonWriter& writer) const override;

 private:
  Status ReadOptions(JsonValue options);
  Status ReadTexts(JsonValue input);
  std::vector<double> Concentrations(std::span<const float> map) const;
  void WriteTokens(JsonWriter& writer) const;

  struct Array {
    std::vector<int32_t> dims;
    std::span<const float> values;
  };
  static void WriteArrays(JsonWriter& writer, std::string_view key, const std::vector<Array>& arrays, size_t first);

  bool attentions_wanted_ = false;
  bool span_kernels_wanted_ = false;
  bool hidden_states_wanted_ = false;
  bool truncation_ = false;
  std::string texts_[2];
  Encoding tokens_;
  // By layer
  std::vector<Array> attentions_;
  std::vector<Array> span_kernels_;
  std::vector<Array> hidden_states_;
  std::vector<std::vector<double>> concentrations_;
};

}  // namespace peruse

// Outputs of the model by text. The only place in core/tasks that knows how a model is run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/model/runner.h"
#include "core/text/encoding.h"

namespace peruse {

// What a head reads beside the text (HeadInputs).
struct HeadLists {
  std::vector<int32_t> words, word_tokens, labels, label_tokens, pair_first, pair_second;
  int32_t second_segment = 0;
  std::span<const float> label_vectors = {};  // of a bi-encoder; there when the reading's turn comes
};

// One thing that the model reads: a text, a pair, or a window of either.
struct Reading {
  size_t input = 0;   // the input of the request that it belongs to
  size_t number = 0;  // among the readings of that input
  bool last = true;   // of that input
  text::Encoding tokens = {};
  // The tokens to score, by position; empty: all. All readings of a task name some, or none do.
  std::vector<int32_t> rows = {};
  HeadLists head = {};      // of models that read labels
  int32_t label = -1;       // of the label that is read by itself (LabelReader); -1: it is a text
  int32_t first_word = 0;   // the number of the first word, in its input
  int32_t first_label = 0;  // and of the first label, in the request
};

// Row by row; rows are tokens (or the chosen ones of them), or one row stands for the text.
struct Matrix {
  std::span<const float> values;
  size_t cols = 0;

  std::span<const float> row(size_t index) const { return values.subspan(index * cols, cols); }
};

class ModelOutputs {
 public:
  explicit ModelOutputs(Runner& model) : model_(model) {}

  // Records a run of the model over `batch`, which is to give the outputs `ids`; head_mask: as in RunOptions.
  Status Begin(std::span<const Reading> batch, std::span<const OutputId> ids, std::span<const float> head_mask = {});
  // Completes it.
  Status Finish() { return model_.Finish(); }

  // After Finish, until the next Begin: what the text of this number got.
  Matrix Get(OutputId id, size_t text) const;
  // Tokens of the batch.
  int32_t rows() const { return model_.batch().rows(); }

 private:
  Runner& model_;
  std::vector<ModelInput> inputs_;
  std::vector<int32_t> chosen_;       // rows of the batch to score
  std::vector<size_t> first_chosen_;  // by text, and the end
};

}  // namespace peruse

// Runs the model and returns its outputs for each text. The only file of core/tasks that runs the model.
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

struct HeadLists {
  std::vector<int32_t> words, word_tokens, labels, label_tokens, pair_first, pair_second;
  int32_t second_segment = 0;
  std::span<const float> label_vectors = {};  // label vectors of a bi-encoder; set before the reading runs

  HeadInputs inputs() const {
    return {words, word_tokens, labels, label_tokens, pair_first, pair_second, second_segment, label_vectors};
  }
};

// One input of the model: a text, a pair, or a window of either.
struct Reading {
  size_t input = 0;   // index of the input in the request
  size_t number = 0;  // index among the readings of that input
  bool last = true;   // whether it is the last reading of that input
  text::Encoding tokens = {};
  // Positions of the tokens to score; empty means all. Either all readings of a task have rows, or none.
  std::vector<int32_t> rows = {};
  HeadLists head = {};      // for models that read labels
  int32_t label = -1;       // index of a label that is encoded separately (LabelReader); -1 for a text
  int32_t first_word = 0;   // index of the first word in the input
  int32_t first_label = 0;  // index of the first label in the request
  int32_t keys = 0;         // number of leading tokens that the encoder attends to; 0 means all
  int32_t part = -1;        // number of the part of a schema whose queries are computed; -1 for a text
  bool alone = false;       // shares no batch with other readings
};

// A row-major matrix with a row per token (or requested token), or one row for the text.
struct Matrix {
  std::span<const float> values;
  size_t cols = 0;

  std::span<const float> row(size_t index) const { return values.subspan(index * cols, cols); }
};

class ModelOutputs {
 public:
  explicit ModelOutputs(Runner& model) : model_(model) {}

  // Records a run over `batch` for the outputs `ids`. head_mask: see RunOptions::head_mask.
  Status Begin(std::span<const Reading> batch, std::span<const OutputId> ids, std::span<const float> head_mask = {});
  Status Finish() { return model_.Finish(); }

  // Returns the result for text number `text` of the batch. Valid after Finish until the next Begin.
  Matrix Get(OutputId id, size_t text) const;
  int32_t rows() const { return model_.batch().rows(); }

 private:
  Runner& model_;
  std::vector<ModelInput> inputs_;
  std::vector<int32_t> chosen_;       // rows of the batch to score
  std::vector<size_t> first_chosen_;  // index in chosen_ of each text's first row; then the end
};

}  // namespace peruse

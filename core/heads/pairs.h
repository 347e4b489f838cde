// Parts of heads that compare words with labels: small networks on pairs, and the BiLSTM.
#pragma once

#include <string>

#include "core/program/build.h"

namespace peruse {

// Returns Linear(name.3, relu(Linear(name.0, x))) with `inner` and `out` columns.
Value Mlp(Build& b, Value x, const std::string& name, int32_t inner, int32_t out);

// One summand of a linear layer whose input concatenates several parts: x times the weight's `all` columns from `first` on. The last part
// adds the bias. This takes one product per word instead of one per pair.
Value Part(Build& b, Value x, const std::string& name, int32_t first, int32_t all, int32_t out);

// Returns, for each pair, the row of x [words, width] of its first element plus the row of y of its second element.
Value AddPairs(Build& b, Value x, Value y);

// Scores every pair with the network called <scorer>out_mlp on [x' | y' | x'' y''], where ' and '' are two projections: [pairs, scores].
// Corresponds to gliner's Scorer and gliclass's ScorerWeightedDot.
Value PairScores(Build& b, Value x, Value y, const std::string& scorer, const char* x_name, int32_t scores);

// gliner's LstmSeq2SeqEncoder: one bidirectional LSTM layer with concatenated results. `lstm` is the prefix of its tensor names.
Value BiLstm(Build& b, Value x, const std::string& lstm, int32_t layer);

}  // namespace peruse

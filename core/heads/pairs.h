// Parts of heads that compare words with labels: small networks on pairs, and the BiLSTM.
#pragma once

#include <string>

#include "core/program/build.h"

namespace peruse {

// Returns Linear(name.3, relu(Linear(name.0, x))) with `inner` and `out` columns.
Value Mlp(Build& b, Value x, const std::string& name, int32_t inner, int32_t out);

// One summand of a linear layer whose input concatenates several parts: x times the weight's columns from `first` on, of `all`. The last
// part adds the bias. This takes one product per word instead of one per pair.
Value Part(Build& b, Value x, const std::string& name, int32_t first, int32_t all, int32_t out);

// Adds the row of x [words, width] for a pair's first element and the row of y for its second one.
Value AddPairs(Build& b, Value x, Value y);

// Scores every pair with the network `scorer`out_mlp on [x' | y' | x'' y''], where ' and '' are two projections: [pairs, scores]. Package
// gliner: Scorer; gliclass: ScorerWeightedDot.
Value PairScores(Build& b, Value x, Value y, const std::string& scorer, const char* x_name, int32_t scores);

// gliner's LstmSeq2SeqEncoder: one bidirectional LSTM layer with concatenated results. `lstm` is the prefix of its tensor names.
Value BiLstm(Build& b, Value x, const std::string& lstm, int32_t layer);

}  // namespace peruse

// What heads that compare words with labels share: small networks on pairs, and the BiLSTM.
#pragma once

#include <string>

#include "core/program/build.h"

namespace peruse {

// Linear(name.3, relu(Linear(name.0, x))): `inner` columns between, `out` at the end.
Value Mlp(Build& b, Value x, const std::string& name, int32_t inner, int32_t out);

// The part of a linear of several inputs side by side (`all` columns) that those from column `first` on make: x times these
// columns; with the bias only for the last of them. So a product for each word takes the place of one for each pair.
Value Part(Build& b, Value x, const std::string& name, int32_t first, int32_t all, int32_t out);

// x [words, width] of pairs' first elements, plus y of their second ones.
Value AddPairs(Build& b, Value x, Value y);

// What a small network `scorer`out_mlp says of [x' | y' | x'' y''], from two projections of each, for every pair:
// [pairs, scores]. Reference classes: Scorer, ScorerWeightedDot.
Value PairScores(Build& b, Value x, Value y, const std::string& scorer, const char* x_name, int32_t scores);

// LstmSeq2SeqEncoder: a layer of an LSTM in both directions, side by side. `lstm`: before its tensors' names.
Value BiLstm(Build& b, Value x, const std::string& lstm, int32_t layer);

}  // namespace peruse

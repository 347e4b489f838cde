// Shared by heads that compare words with labels: small networks on pairs, and the BiLSTM.
#pragma once

#include <string>

#include "core/program/build.h"

namespace peruse {

// Linear(name.3, relu(Linear(name.0, x))) with `inner` and `out` columns.
Value Mlp(Build& b, Value x, const std::string& name, int32_t inner, int32_t out);

// One summand of a linear layer whose input concatenates several parts (`all` columns): x times the columns from `first` on; the last part
// adds the bias. So there is one product per word instead of one per pair.
Value Part(Build& b, Value x, const std::string& name, int32_t first, int32_t all, int32_t out);

// Adds rows of x [words, width] for pairs' first elements and of y for their second ones.
Value AddPairs(Build& b, Value x, Value y);

// Scores every pair with the network `scorer`out_mlp on [x' | y' | x'' y''], from two projections of each: [pairs, scores]. Reference
// classes: Scorer, ScorerWeightedDot.
Value PairScores(Build& b, Value x, Value y, const std::string& scorer, const char* x_name, int32_t scores);

// LstmSeq2SeqEncoder: one bidirectional LSTM layer with concatenated results. `lstm` is the prefix of its tensors' names.
Value BiLstm(Build& b, Value x, const std::string& lstm, int32_t layer);

}  // namespace peruse

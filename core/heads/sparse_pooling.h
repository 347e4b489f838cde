#pragma once

namespace peruse {

// How the masked-LM logits z of a text's tokens become the weights of its sparse vector (sentence-transformers' SpladePooling): the maximum
// over all tokens of log(1 + max(z, 0)), by default.
struct SparsePooling {
  bool sums = false;        // takes the sum over the tokens instead of the maximum
  bool logs_twice = false;  // log(1 + log(1 + max(z, 0))): the activation_function "log1p_relu"
};

}  // namespace peruse

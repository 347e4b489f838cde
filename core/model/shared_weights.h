// Weights shared by models on one backend: models of one config.json with different heads. Each model holds the weights that it uses; a
// weight is freed with its last holder.
#pragma once

#include <memory>
#include <vector>

#include "core/backend/backend.h"
#include "core/program/parameters.h"

namespace peruse {

// A linear layer's weights, freed with the last holder.
class LinearHold {
 public:
  LinearHold(Backend& backend, Weight weight) : backend_(backend), weight_(weight) {}
  ~LinearHold() { backend_.FreeLinear(weight_); }
  LinearHold(const LinearHold&) = delete;
  LinearHold& operator=(const LinearHold&) = delete;

 private:
  Backend& backend_;
  const Weight weight_;
};
using LinearHolds = std::vector<std::shared_ptr<LinearHold>>;  // by linear layer of the program

// A model's weights, for another model to share.
struct HeldWeights {
  const Parameters& parameters;
  const Weights& weights;
  const LinearHolds& holds;
};

// Copies handles of equal tensors with equal formats from `from` into `weights` and `holds`, which have the sizes of `parameters`. Returns
// which tensors are complete, by index.
std::vector<bool> TakeHeld(const HeldWeights& from, const Parameters& parameters, Weights* weights, LinearHolds* holds);

}  // namespace peruse

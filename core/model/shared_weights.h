// Shares weights between models of one config.json with different heads, on one backend. A weight is freed with its last holder.
#pragma once

#include <memory>
#include <vector>

#include "core/backend/backend.h"
#include "core/program/parameters.h"

namespace peruse {

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
using LinearHolds = std::vector<std::shared_ptr<LinearHold>>;  // indexed by linear layer of the program

struct HeldWeights {
  const Parameters& parameters;
  const Weights& weights;
  const LinearHolds& holds;
};

// Copies handles of equal tensors with equal formats into `weights` and `holds`, which have the sizes of `parameters`. Returns for each
// tensor whether it is complete.
std::vector<bool> TakeHeld(const HeldWeights& from, const Parameters& parameters, Weights* weights, LinearHolds* holds);

}  // namespace peruse

// Weights that several models on one backend work with: models of one config.json whose heads differ. Each holds what it uses; what
// the last one lets go of is freed.
#pragma once

#include <memory>
#include <vector>

#include "core/backend/backend.h"
#include "core/program/parameters.h"

namespace peruse {

// A linear layer's weights, freed with the last who holds them.
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
using LinearHolds = std::vector<std::shared_ptr<LinearHold>>;  // by linear of the program

// A model's weights, for another to take.
struct HeldWeights {
  const Parameters& parameters;
  const Weights& weights;
  const LinearHolds& holds;
};

// Puts into `weights` and `holds`, which are of the sizes of `parameters`, what `from` holds of them: the same tensors in the same format. Gives the
// pieces that are whole with it, by number.
std::vector<bool> TakeHeld(const HeldWeights& from, const Parameters& parameters, Weights* weights, LinearHolds* holds);

}  // namespace peruse

// Training refuses models with experts when it creates their program (core/train/recipes/trainee.cc).
#include "core/base/status.h"
#include "core/train/memory/tape.h"

namespace peruse::train {

template <>
void Forward(const ops::Experts&, Tape&) {
  PERUSE_CHECK(false);
}

template <>
void Backward(const ops::Experts&, Tape&) {
  PERUSE_CHECK(false);
}

}  // namespace peruse::train

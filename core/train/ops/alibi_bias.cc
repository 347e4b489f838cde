// ops::AlibiBias in training: the table does not depend on weights, so there is no gradient.
#include "core/train/memory/tape.h"

namespace peruse::train {

template <>
void Forward(const ops::AlibiBias& op, Tape& t) {
  const Block out = t.value(op.out);
  ops::FillBiases(op, static_cast<int32_t>(out.rows), static_cast<int32_t>(out.cols), out.data, out.stride);
}
template <>
void Backward(const ops::AlibiBias&, Tape&) {}

}  // namespace peruse::train

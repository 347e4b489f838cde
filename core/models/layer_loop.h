// Runs layers one after another through two alternating buffers.
#pragma once

#include "core/backend/backend.h"
#include "core/models/inspection.h"

namespace peruse {

// layer(index, input, output) for each of `count` layers (at least one); the first reads x, the last writes out.
// x is used as a buffer: its contents are gone afterwards.
template <typename Layer>
void RunLayers(Backend& backend, int32_t count, Tensor x, Tensor out, Inspection& inspection, const Layer& layer) {
  Scope scope(backend);
  const Tensor spare = backend.New(x.rows, x.cols);
  Tensor input = x;
  for (int32_t i = 0; i < count; ++i) {
    const Tensor output = i + 1 == count ? out : (i % 2 == 0 ? spare : x);
    layer(i, input, output);
    inspection.HiddenState(backend, output);
    input = output;
  }
}

}  // namespace peruse

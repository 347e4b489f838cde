// Runs layers one after another through two alternating buffers.
#pragma once

#include <cstdint>
#include <span>

#include "core/backend/backend.h"
#include "core/models/inspection.h"

namespace peruse {

// The rows of x that `kept` names; x itself if it names none. In the last layer everything after attention works on the
// rows that the head reads alone.
inline Tensor KeepRows(Backend& backend, Tensor x, std::span<const int32_t> kept) {
  if (kept.empty()) return x;
  const Tensor rows = backend.New(static_cast<int32_t>(kept.size()), x.cols);
  backend.SelectRows(x, kept, rows);
  return rows;
}

// layer(index, input, kept, output) for each of `count` layers (at least one); the first reads x, the last writes out, the rows
// `kept` of it (for the layers before, `kept` is empty: all). x is used as a buffer: its contents are gone afterwards.
template <typename Layer>
void RunLayers(Backend& backend, int32_t count, Tensor x, std::span<const int32_t> kept, Tensor out,
               Inspection& inspection, const Layer& layer) {
  Scope scope(backend);
  const Tensor spare = backend.New(x.rows, x.cols);
  Tensor input = x;
  for (int32_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    const Tensor output = last ? out : (i % 2 == 0 ? spare : x);
    layer(i, input, last ? kept : std::span<const int32_t>(), output);
    inspection.HiddenState(backend, output);
    input = output;
  }
}

}  // namespace peruse

#pragma once

#include <array>

#include "core/ops/value.h"

namespace peruse::ops {

// out[t] = scale * (sum of a row of each table)
struct Embed {
  static constexpr const char* kName = "embed";
  static constexpr Reads kReads = Reads::kBatch;
  static constexpr size_t kMostLookups = 3;  // words, positions, segments

  struct Lookup {
    TableId table;
    IndexId index;  // invalid if the lookup is absent
  };
  std::array<Lookup, kMostLookups> lookups;
  float scale = 1;
  Value out;

  auto Inputs() { return std::array<Value*, 0>{}; }
  auto Outputs() { return std::array{&out}; }
};

bool Fits(const Embed& op, const Shapes& s);
void Compute(const Embed& op, const Numbers& n);
void Gradient(const Embed& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const Embed& op, Value result, const Numbers& n);

}  // namespace peruse::ops

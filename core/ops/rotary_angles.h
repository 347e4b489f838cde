#pragma once

#include <array>
#include <span>

#include "core/ops/value.h"

namespace peruse::ops {

// How the frequencies of rotary position embeddings are changed for texts that are longer than those of the training: rope_type in
// config.json. Names and formulas are those of transformers (modeling_rope_utils.py).
struct RotaryScaling {
  enum class Kind : uint8_t {
    kNone,     // f_j = theta^(-2 j / head_dim)
    kLinear,   // f_j / factor
    kLlama3,   // f_j / factor for wavelengths above `low`, f_j below `high`, and a mean of both between them
    kYarn,     // f_j up to column `low`, f_j / factor from column `high` on, and a mean of both between them
    kDynamic,  // a larger theta for texts of more than `original` tokens
  };
  Kind kind = Kind::kNone;
  float factor = 1;
  float low = 0;
  float high = 0;
  float original = 0;   // tokens
  float amplitude = 1;  // multiplies cosines and sines
};

// Rotary position embeddings (Su et al., 2021, section 3.2.2), a row per token. At position p, column j < head_dim / 2 is cos(p f_j) and
// column head_dim / 2 + j is sin(p f_j), with f_j = theta^(-2 j / head_dim), scaled, and rounded to float32 as in transformers.
struct RotaryAngles {
  static constexpr const char* kName = "rotary_angles";
  static constexpr Reads kReads = Reads::kBatch;

  IndexId positions;  // [tokens]
  float theta = 10000;
  RotaryScaling scaling;
  Value out;  // [tokens, head_dim]

  auto Inputs() { return std::array<Value*, 0>{}; }
  auto Outputs() { return std::array{&out}; }
};

// Returns f_j in a text of `length` tokens.
float RotaryFrequency(const RotaryAngles& op, int32_t j, int32_t head_dim, int32_t length);

// Computes the operation in float32, for all backends. Rows of `out` are `stride` floats apart.
void FillAngles(const RotaryAngles& op, std::span<const int32_t> positions, int32_t head_dim, float* out,
                int64_t stride);

bool Fits(const RotaryAngles& op, const Shapes& s);
void Compute(const RotaryAngles& op, const Numbers& n);
void Gradient(const RotaryAngles& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const RotaryAngles& op, Value result, const Numbers& n);

}  // namespace peruse::ops

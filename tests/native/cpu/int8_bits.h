// Hashes of int8 results, which are the same in every build and on every machine.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "core/backend/cpu/cpu_backend.h"
#include "core/formats/quantize.h"
#include "tests/native/ops/run_program.h"

namespace peruse::testing {

class Hash {
 public:
  void Add(uint32_t bits) {
    for (int i = 0; i < 4; ++i) value_ = (value_ ^ ((bits >> (8 * i)) & 0xFF)) * 16777619u;
  }
  void Add(float value) { Add(std::bit_cast<uint32_t>(value)); }
  uint32_t value() const { return value_; }

 private:
  uint32_t value_ = 2166136261u;
};

// Random numbers in [-1, 1), and sometimes a large one, as activations have.
inline std::vector<float> Numbers(size_t count, uint32_t seed) {
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const float value = static_cast<float>(static_cast<int32_t>(seed >> 8) - (1 << 23)) / (1 << 23);
    values.push_back(i % 97 == 0 ? value * 20 : value);
  }
  return values;
}

// web/src/quantize/quantize_row.ts must have the same hash.
inline constexpr uint32_t kRowsHash = 3548240406u;
inline uint32_t HashRows() {
  Hash hash;
  const std::vector<float> values = Numbers(64 * 100, 1);
  for (size_t row = 0; row < 64; ++row) {
    std::vector<int8_t> integers(100);
    hash.Add(QuantizeRow(std::span(values).subspan(row * 100, 100), kWeightLevels, integers.data()));
    for (const int8_t integer : integers) hash.Add(static_cast<uint32_t>(int32_t{integer}));
  }
  return hash.value();
}

inline constexpr uint32_t kLinearsHash = 3439738957u;
inline constexpr uint32_t kFourBitLinearsHash = 2304325328u;
inline uint32_t HashLinears(Precision precision) {
  Hash hash;
  const auto backend = CreateCpuBackend(1).value();
  for (const bool wide : {false, true}) {
    for (const LinearSpec& shape : {LinearSpec{768, 100, 1}, LinearSpec{3072, 40, 1}, LinearSpec{62, 36, 2}}) {
      const LinearSpec spec{shape.in, shape.out, shape.groups, precision, wide};
      const int32_t rows = 7;
      const size_t depth = static_cast<size_t>(spec.in / spec.groups);
      SmallProgram program;
      const Value x = program.Input(rows, spec.in);
      const Value y = program.New(rows, spec.out);
      program.Add(ops::Linear{.x = x, .weight = program.Linear(*backend, spec), .out = y});
      program.Output(y);
      const Weight weight = program.weights().linears[0];
      const std::vector<float> values = Numbers(depth * static_cast<size_t>(spec.out), 2);
      EncodedBuffer buffer;
      PERUSE_CHECK(WriteFloats(*backend, weight, spec, 0, values, &buffer).ok());
      PERUSE_CHECK(backend->WriteBias(weight, 0, Numbers(static_cast<size_t>(spec.out), 3)).ok());
      const std::vector<float> input = Numbers(static_cast<size_t>(rows * spec.in), 4);
      const ProgramResult result = program.Run(*backend, {input});
      PERUSE_CHECK(result.status.ok());
      for (const float value : result.outputs[0].values()) hash.Add(value);
    }
  }
  return hash.value();
}

}  // namespace peruse::testing

// Writes results as JSON. Float arrays are not converted: JSON contains {"array": number, "dims": [...]}, and the host reads the floats
// from memory by that number.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/json_writer.h"

namespace peruse {

class ResultWriter : public JsonWriter {
 public:
  using JsonWriter::JsonWriter;

  struct Field {
    enum Kind { kText, kBool, kInt, kDouble };
    Field(std::string_view key, std::string_view value) : name(key), kind(kText), text(value) {}
    template <std::integral T>  // numbers must be below 2^53 in magnitude, which JavaScript represents exactly
    Field(std::string_view key, T value)
        : name(key), kind(std::same_as<T, bool> ? kBool : kInt), number(static_cast<double>(value)) {}
    Field(std::string_view key, std::floating_point auto value) : name(key), kind(kDouble), number(value) {}

    std::string_view name;
    Kind kind;
    std::string_view text = {};
    double number = 0;
  };
  void Fields(std::initializer_list<Field> fields);
  void Object(std::initializer_list<Field> fields);

  // Writes a row-major array. `values` must be valid until the host has read them.
  void Array(std::span<const float> values, const std::vector<int64_t>& dims);
  // Writes a row-major array, and keeps `values` until the host has read them.
  void Array(std::vector<float> values, const std::vector<int64_t>& dims);
  const std::vector<std::span<const float>>& arrays() const { return arrays_; }

 private:
  std::vector<std::span<const float>> arrays_;
  std::vector<std::vector<float>> kept_;
};

}  // namespace peruse

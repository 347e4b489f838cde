// Reads typed, checked fields of a config.json. Remembers the first error; later calls return defaults.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/ops/activation.h"

namespace peruse {

class ConfigReader {
 public:
  explicit ConfigReader(JsonValue root) : root_(root) {}

  // Absent and null fields give the default: transformers writes null for unset fields.
  int32_t Int(std::string_view field, int32_t fallback, int32_t least, int32_t most);
  float Float(std::string_view field, float fallback, float least, float most);
  bool Bool(std::string_view field, bool fallback);
  std::string String(std::string_view field, std::string_view fallback);
  Activation ActivationOf(std::string_view field, Activation fallback);

  // Returns the field; an absent value if it is null.
  JsonValue Field(std::string_view field) const;

  bool IsNull(std::string_view field) const { return root_.FindMember(field).IsNull(); }

  void Fail(Status status);
  // Sets the error "config.json: <field> is <value>, <must ...>".
  void Refuse(std::string_view field, std::string_view must);
  const Status& status() const { return status_; }

 private:
  JsonValue root_;
  Status status_;
};

}  // namespace peruse

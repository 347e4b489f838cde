// Reads options from JSON: checks types and ranges, and remembers the first invalid member.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/base/status.h"

namespace peruse {

class OptionReader {
 public:
  explicit OptionReader(JsonValue object) : object_(object) {}

  void Read(std::string_view name, bool* value) { Take(name, "true or false", Member(name).GetBool(), value); }
  void Read(std::string_view name, float* value) { Take(name, "a number", Member(name).GetDouble(), value); }
  void Read(std::string_view name, std::string* value) { Take(name, "a string", Member(name).GetString(), value); }
  void Read(std::string_view name, int32_t minimum, int32_t* value);
  void Read(std::string_view name, std::vector<std::string>* value);
  void Read(std::string_view name, std::vector<int32_t>* value);
  // Accepts one of `names`, which are in the order of the enumeration.
  template <typename Enum>
  void Read(std::string_view name, std::span<const std::string_view> names, Enum* value) {
    Take(name, "", Choice(name, names), value);
  }
  template <typename T, typename... Range>
  void ReadOptional(std::string_view name, std::optional<T>* value, Range... range) {
    if (!Member(name).exists()) return;
    Read(name, range..., &value->emplace());
  }
  void ReadText(std::string_view name, std::string* value);

  // Sets this error unless there is one.
  void Fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  JsonValue Member(std::string_view name) const { return object_.FindMember(name); }
  const Status& status() const { return status_; }

 private:
  // Stores `read`. If it is nullopt, sets an error that names what is `expected`.
  template <typename From, typename To>
  void Take(std::string_view name, std::string_view expected, const std::optional<From>& read, To* value) {
    if (!Member(name).exists()) return;
    if (read) {
      *value = static_cast<To>(*read);
    } else {
      Fail(name, expected);
    }
  }
  std::optional<int32_t> Choice(std::string_view name, std::span<const std::string_view> names);
  void Fail(std::string_view name, std::string_view expected);

  JsonValue object_;
  Status status_;
};

}  // namespace peruse

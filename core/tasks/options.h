// Reading a request's options: typed, with one clear error that names the option.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/status.h"

namespace peruse {

// Each leaves `value` as it is when the option is absent, and refuses a value of another type or out of range.
Status ReadOption(JsonValue options, std::string_view name, bool* value);
Status ReadOption(JsonValue options, std::string_view name, int32_t minimum, int32_t* value);
Status ReadOption(JsonValue options, std::string_view name, std::string* value);
Status ReadOption(JsonValue options, std::string_view name, std::vector<std::string>* value);

// A member of an input that must be a string.
Result<std::string_view> ReadText(JsonValue input, std::string_view name);

}  // namespace peruse

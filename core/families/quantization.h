#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/formats/linear_spec.h"

namespace peruse {

Result<Precision> ReadQuantization(JsonValue quantization);

// Adds the quantization_config of `precision` to config.json. Errors: kUnsupported if checkpoints cannot use that format.
Result<std::string> WithQuantization(std::string_view config_json, Precision precision);

}  // namespace peruse

// config.json's quantization_config: a checkpoint's storage format (docs/precision.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/formats/linear_spec.h"

namespace peruse {

// Returns the format of a quantization_config. Errors: kUnsupported for other libraries' methods.
Result<Precision> ReadQuantization(JsonValue quantization);

// Returns config.json with the quantization_config of a format. Errors: kUnsupported if checkpoints cannot be stored in it.
Result<std::string> WithQuantization(std::string_view config_json, Precision precision);

}  // namespace peruse

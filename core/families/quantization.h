// config.json's quantization_config: how a checkpoint stores its weights (docs/precision.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/formats/linear_spec.h"

namespace peruse {

// The format that a quantization_config names. kUnsupported: a method of others, whose weights mean nothing without it.
Result<Precision> ReadQuantization(JsonValue quantization);

// config.json with the quantization_config of a format. kUnsupported: checkpoints are not stored in it.
Result<std::string> WithQuantization(std::string_view config_json, Precision precision);

}  // namespace peruse

#pragma once

#include <cstdint>

#include "core/base/json_writer.h"
#include "core/train/recipes/objective.h"

namespace peruse::train {

// Writes nothing for NaN, which means that a metric does not exist.
void WriteNumber(JsonWriter& writer, const char* name, double value);
void WriteCount(JsonWriter& writer, const char* name, int64_t value);
void Write(JsonWriter& writer, const Metrics& metrics);

}  // namespace peruse::train

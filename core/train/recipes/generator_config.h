#pragma once

#include <string>
#include <string_view>

#include "core/families/family.h"

namespace peruse::train {

// Returns the configuration of a new generator: a quarter of the discriminator's width for ELECTRA, otherwise half of its layers.
// `config_json` is the discriminator's, and valid.
std::string GeneratorConfig(std::string_view config_json, const Family& family, const ModelConfig& discriminator);

}  // namespace peruse::train

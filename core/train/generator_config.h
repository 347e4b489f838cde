// The configuration of a new generator for replaced-token detection.
#pragma once

#include <string>
#include <string_view>

#include "core/families/family.h"

namespace peruse::train {

// With ELECTRA's embeddings a quarter of the discriminator's width, else half of its layers. `config_json`: the discriminator's, valid.
std::string GeneratorConfig(std::string_view config_json, const Family& family, const ModelConfig& discriminator);

}  // namespace peruse::train

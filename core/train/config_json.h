// config.json as text: with other members in place of those that it had.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/families/config.h"

namespace peruse::train {

// Name and value, as JSON; an empty value: the member goes.
using ConfigMembers = std::vector<std::pair<std::string, std::string>>;

std::string Quoted(std::string_view text);
// config_json was read before.
std::string WithMembers(std::string_view config_json, const ConfigMembers& members);

// The configuration of a new generator for this discriminator: with ELECTRA's embeddings a quarter of its width, else half of its layers.
std::string GeneratorConfig(std::string_view config_json, const ModelConfig& discriminator);

}  // namespace peruse::train

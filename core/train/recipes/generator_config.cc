#include "core/train/recipes/generator_config.h"

#include <algorithm>

#include "core/base/json_members.h"

namespace peruse::train {

std::string GeneratorConfig(std::string_view config_json, const Family& family, const ModelConfig& discriminator) {
  const ConfigFields fields = family.fields();
  const auto name = [](std::string_view field) { return std::string(field); };
  const auto quarter = [](int32_t size) { return std::to_string(std::max(1, size / 4)); };
  if (family.pretraining().narrow_generator && discriminator.hidden_size % 4 == 0) {
    return WithMembers(config_json, {{name(fields.hidden_size), quarter(discriminator.hidden_size)},
                                     {name(fields.intermediate_size), quarter(discriminator.intermediate_size)},
                                     {name(fields.num_attention_heads), quarter(discriminator.num_attention_heads)},
                                     {name(fields.embedding_size), std::to_string(discriminator.embedding_size)}});
  }
  const int32_t half = std::max(1, discriminator.num_hidden_layers / 2);
  return WithMembers(config_json, {{name(fields.num_hidden_layers), std::to_string(half)}});
}

}  // namespace peruse::train

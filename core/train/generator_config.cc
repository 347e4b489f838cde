#include "core/train/generator_config.h"

#include <algorithm>

#include "core/base/json_members.h"

namespace peruse::train {

std::string GeneratorConfig(std::string_view config_json, const ModelConfig& discriminator) {
  const std::string& type = discriminator.model_type;
  const auto quarter = [](int32_t size) { return std::to_string(std::max(1, size / 4)); };
  if ((type == "electra" || type == "convbert") && discriminator.hidden_size % 4 == 0) {
    return WithMembers(config_json, {{"hidden_size", quarter(discriminator.hidden_size)},
                                     {"intermediate_size", quarter(discriminator.intermediate_size)},
                                     {"num_attention_heads", quarter(discriminator.num_attention_heads)},
                                     {"embedding_size", std::to_string(discriminator.embedding_size)}});
  }
  const char* layers = type == "distilbert" ? "n_layers" : "num_hidden_layers";
  return WithMembers(config_json, {{layers, std::to_string(std::max(1, discriminator.num_hidden_layers / 2))}});
}

}  // namespace peruse::train

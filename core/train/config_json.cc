#include "core/train/config_json.h"

#include <algorithm>

#include "core/base/json.h"
#include "core/base/json_writer.h"

namespace peruse::train {

std::string Quoted(std::string_view text) {
  std::string json;
  JsonWriter(&json).String(text);
  return json;
}

std::string WithMembers(std::string_view config_json, const ConfigMembers& members) {
  std::string json = "{";
  const auto add = [&json](std::string_view name, std::string_view value) {
    json += (json.size() > 1 ? ",\n  " : "\n  ") + Quoted(name) + ": " + std::string(value);
  };
  const JsonDocument document = std::move(JsonDocument::Parse(config_json, "config.json").value());
  for (size_t i = 0; i < document.root().size(); ++i) {
    const std::string_view name = document.root().MemberName(i);
    const auto is_own = [&](const auto& member) { return member.first == name; };
    if (std::none_of(members.begin(), members.end(), is_own)) add(name, document.root().MemberValue(i).ToString());
  }
  for (const auto& [name, value] : members) {
    if (!value.empty()) add(name, value);
  }
  return json + "\n}\n";
}

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

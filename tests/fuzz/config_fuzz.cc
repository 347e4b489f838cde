// Any text as config.json gives a valid configuration and program, or a typed error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "core/families/family.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = peruse::ReadFamily(text);
  if (!read.ok()) {
    PERUSE_CHECK(!read.status().message().empty());
    return 0;
  }
  peruse::ModelConfig config = read->config;
  PERUSE_CHECK(config.hidden_size > 0 && config.vocab_size > 0 && config.max_tokens > 0);
  PERUSE_CHECK(config.num_attention_heads > 0 && config.intermediate_size > 0);
  PERUSE_CHECK(config.num_hidden_layers > 0 || config.model_type == "static");  // static embeddings have no layers
  // All layers take the same code, so only one text in 32 is built with all of its layers, and the others with three.
  if (std::hash<std::string_view>()(text) % 32 != 0) config.num_hidden_layers = std::min(config.num_hidden_layers, 3);
  peruse::Program program;
  peruse::Parameters parameters;
  peruse::Build b(program, parameters, peruse::Precision::kF32);
  const peruse::Value hidden = read->family->Encode(b, config);
  PERUSE_CHECK(b.cols(hidden) == config.hidden_size);
  return 0;
}

// Any text as config.json: a configuration that makes sense, or a typed error.
#include <cstddef>
#include <cstdint>

#include "core/models/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto config = peruse::ParseModelConfig({reinterpret_cast<const char*>(data), size});
  if (!config.ok()) {
    PERUSE_CHECK(!config.status().message().empty());
    return 0;
  }
  PERUSE_CHECK(config->hidden_size > 0 && config->vocab_size > 0 && config->max_tokens > 0);
  PERUSE_CHECK(config->num_hidden_layers > 0 && config->num_attention_heads > 0 && config->intermediate_size > 0);
  if (config->architecture == peruse::Architecture::kConvBert) {
    PERUSE_CHECK(2 * config->convbert.heads * config->convbert.head_dim == config->hidden_size);
    PERUSE_CHECK(config->convbert.conv_kernel_size % 2 == 1);
  }
  if (config->is_deberta()) {
    PERUSE_CHECK(config->deberta.head_dim * config->num_attention_heads == config->hidden_size);
  }
  return 0;
}

// Any text as config.json: a configuration and a program that make sense, or a typed error.
#include <cstddef>
#include <cstdint>

#include "core/families/family.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto read = peruse::ReadFamily({reinterpret_cast<const char*>(data), size});
  if (!read.ok()) {
    PERUSE_CHECK(!read.status().message().empty());
    return 0;
  }
  const peruse::ModelConfig& config = read->config;
  PERUSE_CHECK(config.hidden_size > 0 && config.vocab_size > 0 && config.max_tokens > 0);
  PERUSE_CHECK(config.num_hidden_layers > 0 && config.num_attention_heads > 0 && config.intermediate_size > 0);
  peruse::Program program;
  peruse::Parameters parameters;
  peruse::Build b(program, parameters, peruse::Precision::kF32);
  const peruse::Value hidden = read->family->Encode(b, config);
  PERUSE_CHECK(b.cols(hidden) == config.hidden_size);
  return 0;
}

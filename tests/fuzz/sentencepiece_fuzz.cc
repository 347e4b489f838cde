// Any bytes as spm.model give a working tokenizer, or a typed error.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/tokenizer_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = peruse::text::Tokenizer::Create({{"spm.model", bytes}});
  if (!tokenizer.ok()) {
    PERUSE_CHECK(!tokenizer.status().message().empty());
    return 0;
  }
  peruse::EncodeAndCheck(
      **tokenizer, "Some t\xC3\xA9xt, [MASK] \xE2\x96\x81\xEF\xBC\xA1\xCC\x81 \xE2\x84\xA2\x1Eg \xF0\x9F\x98\x80\r\n");
  return 0;
}

// Any bytes as the files of a tokenizer without tokenizer.json give a working tokenizer, or a typed error. The parts of the input,
// separated by NUL, are vocab.txt or (if the first line starts with a brace) vocab.json, tokenizer_config.json, merges.txt,
// special_tokens_map.json and added_tokens.json; empty parts are absent files.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/tokenizer_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  peruse::text::TokenizerFiles files;
  for (const char* name : {rest.starts_with("{") ? "vocab.json" : "vocab.txt", "tokenizer_config.json", "merges.txt",
                           "special_tokens_map.json", "added_tokens.json"}) {
    const size_t end = rest.find('\0');
    if (end != 0) files.emplace(name, rest.substr(0, end));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  const auto tokenizer = peruse::text::Tokenizer::Create(files);
  if (!tokenizer.ok()) {
    PERUSE_CHECK(!tokenizer.status().message().empty());
    return 0;
  }
  peruse::EncodeAndCheck(**tokenizer,
                         "Some t\xC3\xA9xt, [MASK] \xE2\x96\x81\xEF\xBC\xA1\xCC\x81 it's \xF0\x9F\x98\x80\r\n");
  return 0;
}

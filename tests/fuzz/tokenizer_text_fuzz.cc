// Any bytes as text, for one tokenizer of each kind, give valid encodings, or a typed error if they are not UTF-8. The first byte selects
// the tokenizer.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/fuzz/tokenizer_checks.h"

namespace {

constexpr const char* kTokenizers[] = {
    R"({"model":{"type":"WordPiece","vocab":{"[UNK]":0,"[CLS]":1,"[SEP]":2,"a":3,"##a":4,"b":5,"##b":6,"ab":7,"e":8,"'":9}},
        "normalizer":{"type":"BertNormalizer"},"pre_tokenizer":{"type":"BertPreTokenizer"},
        "post_processor":{"type":"BertProcessing","cls":["[CLS]",1],"sep":["[SEP]",2]},
        "added_tokens":[{"content":"[SEP]","special":true},{"content":"A b","single_word":true,"lstrip":true,"rstrip":true}]})",
    R"({"model":{"type":"BPE","vocab":{"a":0,"b":1,"Ġ":2,"ab":3,"Ġab":4,"Ã":5,"©":6,"Ã©":7,"?":8},"unk_token":"?",
        "merges":["a b","Ġ ab","Ã ©"]},"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":true},
        "post_processor":{"type":"RobertaProcessing","cls":["a",0],"sep":["b",1],"trim_offsets":true,"add_prefix_space":true}})",
    R"({"model":{"type":"Unigram","unk_id":0,"vocab":[["?",0],["▁",-1.5],["a",-2],["b",-3],["ab",-2.5],["▁a",-2.25],["é",-9]]},
        "normalizer":{"type":"Sequence","normalizers":[{"type":"NFKC"},{"type":"Lowercase"},{"type":"NFD"},{"type":"Strip",
        "strip_left":true,"strip_right":true},{"type":"NFC"},{"type":"Replace","pattern":{"Regex":" {2,}"},"content":" "}]},
        "pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"first"},"decoder":{"type":"Metaspace","replacement":"▁"}})"};

std::vector<std::unique_ptr<peruse::text::Tokenizer>> MakeTokenizers() {
  std::vector<std::unique_ptr<peruse::text::Tokenizer>> tokenizers;
  for (const char* json : kTokenizers) {
    auto tokenizer = peruse::text::Tokenizer::Create({{"tokenizer.json", json}});
    PERUSE_CHECK(tokenizer.ok());
    tokenizers.push_back(std::move(*tokenizer));
  }
  return tokenizers;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const auto* tokenizers = new std::vector<std::unique_ptr<peruse::text::Tokenizer>>(MakeTokenizers());
  const peruse::text::Tokenizer& tokenizer = *(*tokenizers)[data[0] % tokenizers->size()];
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::string repaired = peruse::ReplaceInvalidUtf8(text);
  PERUSE_CHECK(peruse::IsValidUtf8(repaired));
  PERUSE_CHECK(peruse::IsValidUtf8(text) == (repaired == text));
  peruse::EncodeAndCheck(tokenizer, text);
  if (repaired != text) peruse::EncodeAndCheck(tokenizer, repaired);
  return 0;
}

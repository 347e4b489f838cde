// tokenizer_config.json, special_tokens_map.json and added_tokens.json: what stands beside the vocabulary.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/tokenizer/added_tokens.h"
#include "core/tokenizer/normalizer.h"
#include "core/tokenizer/tokenizer.h"
#include "core/tokenizer/truncation.h"

namespace peruse {

struct SpecialTokens {
  std::optional<AddedToken> cls, sep, mask, pad, unk;
};

struct TokenizerConfig {
  std::string tokenizer_class;  // empty: unknown
  std::optional<int64_t> model_max_length;
  TruncationSide truncation_side = TruncationSide::kRight;
  NormalizerOverrides normalizer;  // do_lower_case, strip_accents, tokenize_chinese_chars
  std::optional<bool> add_prefix_space;
  bool split_by_punct = false;
  bool clean_up_spaces = false;
  SpecialTokens special;
  // added_tokens_decoder or added_tokens.json, with the ids that the files give.
  std::vector<std::pair<int64_t, AddedToken>> added;
};

// Any of the files may be missing.
Result<TokenizerConfig> ReadTokenizerConfig(const TokenizerFiles& files);

// {"content": ..., "lstrip": ..., ...}; the defaults are those of the reference. Error: kMalformedFile.
Result<AddedToken> ParseAddedToken(JsonValue json);

}  // namespace peruse

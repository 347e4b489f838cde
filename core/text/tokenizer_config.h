// tokenizer_config.json, special_tokens_map.json and added_tokens.json.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/text/added_tokens.h"
#include "core/text/bert_normalizer.h"
#include "core/text/tokenizer.h"
#include "core/text/tokenizer_class.h"
#include "core/text/truncation.h"

namespace peruse::text {

// An AddedToken whose `normalized` defaults to !special, as in transformers.
struct TokenEntry {
  AddedToken token;
  bool has_normalized = false;
  bool is_text = false;  // a plain string, without flags

  void SetSpecial(bool special) {
    token.special = special;
    if (!has_normalized) token.normalized = !special;
  }
};

// A special token by its attribute: absent, null, or named.
struct NamedToken {
  bool is_given = false;
  std::optional<TokenEntry> entry;
};

// By id; if two files give an id, the last one read counts.
using TokensById = std::map<int64_t, TokenEntry>;

struct TokenizerConfig {
  bool has_file = false;
  std::string tokenizer_class;  // empty if unknown
  bool has_own_code = false;    // auto_map names a tokenizer

  std::optional<int64_t> model_max_length;
  std::optional<TruncationSide> truncation_side;
  // do_lower_case, strip_accents, tokenize_chinese_chars.
  std::optional<bool> lowercase;
  std::optional<bool> strip_accents;
  bool handle_chinese_chars = true;
  bool split_by_punct = false;
  bool add_prefix_space = false;
  bool has_add_prefix_space = true;        // false if the value is not a boolean, which disables the override
  std::optional<bool> given_prefix_space;  // add_prefix_space, if a boolean
  bool add_bos_token = true;
  bool add_eos_token = false;
  bool trim_offsets = true;
  std::optional<bool> clean_up_spaces;
  bool split_special_tokens = false;
  std::optional<bool> has_type_ids;  // from model_input_names

  NamedToken special[kSpecialAttributes];
  std::vector<TokenEntry> additional;  // additional_special_tokens
  bool has_additional = false;         // a file lists them, so the class's defaults do not count
  std::vector<TokenEntry> extra;       // extra_special_tokens
  bool has_added_tokens = false;       // added_tokens_decoder exists, so the older files do not count
  TokensById added;                    // added_tokens_decoder or added_tokens.json
};

// The flags that BERT's tokenizer classes give their normaliser.
BertNormalizerOptions BertOptions(const TokenizerConfig& config);

// Whether auto_map in tokenizer_config.json or config.json names tokenizer code.
bool HasOwnCode(JsonValue root);

// Any of the files may be missing.
Result<TokenizerConfig> ReadTokenizerConfig(const TokenizerFiles& files);

// Parses {"content": ..., "lstrip": ..., ...} with transformers' defaults. `name` is for messages. Errors: kMalformedFile.
Result<TokenEntry> ParseTokenEntry(JsonValue json, std::string_view name);

}  // namespace peruse::text

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/text/added_tokens.h"
#include "core/text/files/tokenizer_class.h"
#include "core/text/normalizers/bert_normalizer.h"
#include "core/text/tokenizer.h"
#include "core/text/windows.h"

namespace peruse::text {

// An AddedToken. `normalized` defaults to !special, as in transformers.
struct TokenEntry {
  AddedToken token;
  bool has_normalized = false;
  bool is_text = false;  // a plain string, without flags

  void SetSpecial(bool special) {
    token.special = special;
    if (!has_normalized) token.normalized = !special;
  }
};

struct NamedToken {
  bool is_given = false;
  std::optional<TokenEntry> entry;
};

// Tokens by id. If two files use the same id, the token of the later file counts.
using TokensById = std::map<int64_t, TokenEntry>;

struct TokenizerConfig {
  bool has_file = false;
  std::string tokenizer_class;  // empty if unknown
  bool has_own_code = false;    // auto_map names tokenizer code

  std::optional<int64_t> model_max_length;
  std::optional<TruncationSide> truncation_side;
  std::optional<bool> pads_left;
  // lowercase, strip_accents and handle_chinese_chars are do_lower_case, strip_accents and tokenize_chinese_chars of the file.
  std::optional<bool> lowercase;
  std::optional<bool> strip_accents;
  bool handle_chinese_chars = true;
  bool split_by_punct = false;
  bool add_prefix_space = false;
  // False if add_prefix_space is present but not a boolean; it then does not override tokenizer.json.
  bool has_add_prefix_space = true;
  std::optional<bool> given_prefix_space;  // add_prefix_space, if a boolean
  bool add_bos_token = true;
  bool add_eos_token = false;
  // Whether transformers 5 wrote the file ("backend": "tokenizers"). It takes the special tokens around a text from tokenizer.json, and does
  // not write add_bos_token and add_eos_token.
  bool keeps_template = false;
  bool trim_offsets = true;
  std::optional<bool> clean_up_spaces;
  bool split_special_tokens = false;
  std::optional<bool> has_type_ids;  // whether model_input_names contains token_type_ids

  NamedToken special[kSpecialAttributes];
  std::vector<TokenEntry> additional;  // additional_special_tokens
  bool has_additional = false;         // whether a file lists additional tokens; the class's defaults then do not apply
  std::vector<TokenEntry> extra;       // extra_special_tokens
  bool has_added_tokens = false;       // whether added_tokens_decoder exists; files of older releases are then ignored
  TokensById added;                    // added_tokens_decoder or added_tokens.json
};

BertNormalizerOptions BertOptions(const TokenizerConfig& config);

bool HasOwnCode(JsonValue root);

Result<TokenizerConfig> ReadTokenizerConfig(const TokenizerFiles& files);

// Parses {"content": ..., "lstrip": ..., ...} with transformers' defaults. `name` is for messages. Errors: kMalformedFile.
Result<TokenEntry> ParseTokenEntry(JsonValue json, std::string_view name);

}  // namespace peruse::text

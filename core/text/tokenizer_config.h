// tokenizer_config.json, special_tokens_map.json and added_tokens.json: what stands beside the vocabulary.
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

// An AddedToken on its way: as in the reference, whether it is normalised follows from `special` unless something says it.
struct TokenEntry {
  AddedToken token;
  bool has_normalized = false;
  bool is_text = false;  // a string alone, without flags

  void SetSpecial(bool special) {
    token.special = special;
    if (!has_normalized) token.normalized = !special;
  }
};

// A special token by its attribute: the file may say nothing, null, or name one.
struct NamedToken {
  bool is_given = false;
  std::optional<TokenEntry> entry;
};

// By id; an id that two files give counts with the one that is read last.
using TokensById = std::map<int64_t, TokenEntry>;

struct TokenizerConfig {
  bool has_file = false;        // whether there is a tokenizer_config.json
  std::string tokenizer_class;  // empty: unknown
  bool has_own_code = false;    // auto_map names a tokenizer

  std::optional<int64_t> model_max_length;
  std::optional<TruncationSide> truncation_side;
  // do_lower_case, strip_accents, tokenize_chinese_chars.
  std::optional<bool> lowercase;
  std::optional<bool> strip_accents;
  bool handle_chinese_chars = true;
  bool split_by_punct = false;
  bool add_prefix_space = false;
  bool has_add_prefix_space = true;  // false: it is neither true nor false, and then nothing is changed by it
  bool trim_offsets = true;
  std::optional<bool> clean_up_spaces;
  bool split_special_tokens = false;
  std::optional<bool> has_type_ids;  // from model_input_names

  NamedToken special[kSpecialAttributes];
  std::vector<TokenEntry> additional;  // additional_special_tokens
  bool has_additional = false;         // a file lists them: then the defaults of the class do not count
  std::vector<TokenEntry> extra;       // extra_special_tokens
  bool has_added_tokens = false;       // added_tokens_decoder is there: then the older files say nothing
  TokensById added;                    // added_tokens_decoder or added_tokens.json
};

// The flags that a class of BERT's kind gives its normaliser.
BertNormalizerOptions BertOptions(const TokenizerConfig& config);

// Whether auto_map in a tokenizer_config.json or config.json names a tokenizer's code.
bool HasOwnCode(JsonValue root);

// Any of the files may be missing.
Result<TokenizerConfig> ReadTokenizerConfig(const TokenizerFiles& files);

// {"content": ..., "lstrip": ..., ...}; the defaults are those of the reference. `name` of what holds it is for messages.
// Error: kMalformedFile.
Result<TokenEntry> ParseTokenEntry(JsonValue json, std::string_view name);

}  // namespace peruse::text

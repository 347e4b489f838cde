// TokenizerClass: what the class that tokenizer_config.json names does beside its files, as transformers' classes do it.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/status.h"
#include "core/text/tokenizer.h"

namespace peruse::text {

struct TokenizerConfig;

// The files, older than tokenizer.json, that a class can be built from.
enum class VocabularyFiles : uint8_t { kNone, kWordPiece, kByteLevel, kSentencePiece, kXlmRoberta, kCamembert };

// The attributes that name a special token, in the order in which transformers goes through them.
enum SpecialAttribute : uint8_t { kBosToken, kEosToken, kUnkToken, kSepToken, kPadToken, kClsToken, kMaskToken };
inline constexpr size_t kSpecialAttributes = 7;
inline constexpr std::string_view kSpecialNames[kSpecialAttributes] = {
    "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};

struct TokenizerClass {
  std::string_view name;  // without "Fast"
  VocabularyFiles files = VocabularyFiles::kNone;
  // Its own do_lower_case, strip_accents and tokenize_chinese_chars replace those of a BertNormalizer in tokenizer.json.
  bool sets_normalizer = false;
  // RoBERTa's kind: its own trim_offsets and add_prefix_space replace those of the post_processor in tokenizer.json.
  bool sets_trimming = false;
  bool two_separators = false;    // without tokenizer.json, between the texts of a pair
  bool has_type_ids = true;       // token_type_ids are among its model_input_names
  bool mask_takes_space = false;  // a mask token that is given as a string swallows the space before it
  // Special tokens if no file names them; an empty name means none.
  std::string_view special[kSpecialAttributes] = {};
  std::string_view additional[3] = {};
};

// The class of a folder: by tokenizer_class in tokenizer_config.json or config.json, by model_type or else architectures in
// config.json, or, without these files, by the files that are there. kUnsupported for a class that is not known, and where its own code is asked for (auto_map).
Result<const TokenizerClass*> FindTokenizerClass(const TokenizerFiles& files, const TokenizerConfig& config);

}  // namespace peruse::text

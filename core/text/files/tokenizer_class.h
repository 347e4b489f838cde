// The behaviour that transformers' tokenizer classes (tokenizer_class in tokenizer_config.json) add to a tokenizer's files.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/base/status.h"
#include "core/text/tokenizer.h"

namespace peruse::text {

struct TokenizerConfig;

enum class VocabularyFiles : uint8_t { kNone, kWordPiece, kByteLevel, kSentencePiece, kXlmRoberta, kCamembert };

// Attributes that name a special token, in transformers' order.
enum SpecialAttribute : uint8_t { kBosToken, kEosToken, kUnkToken, kSepToken, kPadToken, kClsToken, kMaskToken };
inline constexpr size_t kSpecialAttributes = 7;
inline constexpr std::string_view kSpecialNames[kSpecialAttributes] = {
    "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};

// The special tokens of a class if no file names others. An empty string means that the class does not have the token.
struct DefaultTokens {
  std::string_view bos = {};
  std::string_view eos = {};
  std::string_view unk = {};
  std::string_view sep = {};
  std::string_view pad = {};
  std::string_view cls = {};
  std::string_view mask = {};

  // The token of a SpecialAttribute.
  constexpr std::string_view operator[](size_t attribute) const {
    return std::array{bos, eos, unk, sep, pad, cls, mask}[attribute];
  }
};

struct TokenizerClass {
  std::string_view name;  // name of the class without "Fast"
  VocabularyFiles files = VocabularyFiles::kNone;
  // Whether the class's do_lower_case, strip_accents and tokenize_chinese_chars override those of tokenizer.json's BertNormalizer.
  bool sets_normalizer = false;
  // Whether the class's trim_offsets and add_prefix_space override those of tokenizer.json's post_processor, as in RoBERTa.
  bool sets_trimming = false;
  bool two_separators = false;    // two separators between the texts of a pair, if there is no tokenizer.json
  bool has_type_ids = true;       // token_type_ids are among its model_input_names
  bool mask_takes_space = false;  // a mask token given as a string absorbs the space before it
  // Puts bos_token before and eos_token after each text, depending on add_bos_token and add_eos_token. Ignores post_processor in
  // tokenizer.json, unless transformers 5 wrote the files (TokenizerConfig::keeps_template).
  bool adds_ends = false;
  DefaultTokens special;
  std::string_view additional[3] = {};
};

// Finds the class by tokenizer_class in tokenizer_config.json or config.json, by model_type or architectures in config.json, or by the
// files that exist. Errors: kUnsupported for an unknown class, or for custom code (auto_map).
Result<const TokenizerClass*> FindTokenizerClass(const TokenizerFiles& files, const TokenizerConfig& config);

}  // namespace peruse::text

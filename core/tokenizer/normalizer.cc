#include "core/tokenizer/normalizer.h"

#include <vector>

#include "core/tokenizer/bert_normalizer.h"
#include "core/tokenizer/byte_level.h"
#include "core/tokenizer/pattern.h"
#include "core/tokenizer/precompiled.h"
#include "core/tokenizer/simple_normalizers.h"
#include "core/tokenizer/unicode_normalizer.h"

namespace peruse {
namespace {

using Made = Result<std::unique_ptr<Normalizer>>;

template <typename T, typename... Args>
Made Make(Args&&... args) {
  return std::unique_ptr<Normalizer>(std::make_unique<T>(std::forward<Args>(args)...));
}

Status BadNormalizer(JsonValue json) {
  return MalformedFile("tokenizer.json: malformed normalizer: " + json.ToString().substr(0, 200));
}

Made ParseBert(JsonValue json, const NormalizerOverrides& overrides) {
  BertNormalizerOptions options;
  options.clean_text = json.FindMember("clean_text").GetBool().value_or(true);
  options.handle_chinese_chars = json.FindMember("handle_chinese_chars").GetBool().value_or(true);
  options.strip_accents = json.FindMember("strip_accents").GetBool();
  options.lowercase = json.FindMember("lowercase").GetBool().value_or(true);
  if (overrides.handle_chinese_chars) options.handle_chinese_chars = *overrides.handle_chinese_chars;
  if (overrides.strip_accents) options.strip_accents = overrides.strip_accents;
  if (overrides.lowercase) options.lowercase = *overrides.lowercase;
  return Make<BertNormalizer>(options);
}

Made ParseSequence(JsonValue json, const NormalizerOverrides& overrides) {
  const JsonValue items = json.FindMember("normalizers");
  if (!items.IsArray()) return BadNormalizer(json);
  std::vector<std::unique_ptr<Normalizer>> steps;
  for (JsonValue item : items) {
    PERUSE_ASSIGN_OR_RETURN(std::unique_ptr<Normalizer> step, ParseNormalizer(item, overrides));
    if (step != nullptr) steps.push_back(std::move(step));
  }
  return Make<SequenceNormalizer>(std::move(steps));
}

Made ParseReplace(JsonValue json) {
  const auto content = json.FindMember("content").GetString();
  if (!content) return BadNormalizer(json);
  PERUSE_ASSIGN_OR_RETURN(Pattern pattern, Pattern::FromJson(json.FindMember("pattern")));
  return Make<ReplaceNormalizer>(std::move(pattern), std::string(*content));
}

Made ParsePrecompiled(JsonValue json) {
  const auto charsmap = json.FindMember("precompiled_charsmap").GetString();
  if (!charsmap) return BadNormalizer(json);
  PERUSE_ASSIGN_OR_RETURN(const std::string bytes, DecodeBase64(*charsmap));
  PERUSE_ASSIGN_OR_RETURN(auto normalizer, PrecompiledNormalizer::Create(bytes));
  return std::unique_ptr<Normalizer>(std::move(normalizer));
}

}  // namespace

Made ParseNormalizer(JsonValue json, const NormalizerOverrides& overrides) {
  if (!json.exists() || json.IsNull()) return std::unique_ptr<Normalizer>();
  const std::string_view type = json.FindMember("type").GetString().value_or("");
  if (type == "BertNormalizer") return ParseBert(json, overrides);
  if (type == "Sequence") return ParseSequence(json, overrides);
  if (type == "NFC") return Make<UnicodeNormalizer>(UnicodeForm::kNfc);
  if (type == "NFD") return Make<UnicodeNormalizer>(UnicodeForm::kNfd);
  if (type == "NFKC") return Make<UnicodeNormalizer>(UnicodeForm::kNfkc);
  if (type == "NFKD") return Make<UnicodeNormalizer>(UnicodeForm::kNfkd);
  if (type == "Lowercase") return Make<LowercaseNormalizer>();
  if (type == "StripAccents") return Make<StripAccentsNormalizer>();
  if (type == "Nmt") return Make<NmtNormalizer>();
  if (type == "ByteLevel") return Make<ByteLevelNormalizer>();
  if (type == "Replace") return ParseReplace(json);
  if (type == "Precompiled") return ParsePrecompiled(json);
  if (type == "Strip") {
    const auto left = json.FindMember("strip_left").GetBool(), right = json.FindMember("strip_right").GetBool();
    if (!left || !right) return BadNormalizer(json);
    return Make<StripNormalizer>(*left, *right);
  }
  if (type == "Prepend") {
    const auto prefix = json.FindMember("prepend").GetString();
    if (!prefix) return BadNormalizer(json);
    return Make<PrependNormalizer>(std::string(*prefix));
  }
  return Unsupported("tokenizer.json: normalizer \"" + std::string(type) + "\" is not supported");
}

}  // namespace peruse

#include "core/text/normalizers/normalizer.h"

#include <vector>

#include "core/text/normalizers/bert_normalizer.h"
#include "core/text/normalizers/precompiled.h"
#include "core/text/normalizers/simple_normalizers.h"
#include "core/text/normalizers/unicode_normalizer.h"
#include "core/text/pre_tokenizers/byte_level.h"
#include "core/text/regex/pattern.h"

namespace peruse::text {
namespace {

using Made = Result<std::unique_ptr<Normalizer>>;

template <typename T, typename... Args>
Made Make(Args&&... args) {
  return std::unique_ptr<Normalizer>(std::make_unique<T>(std::forward<Args>(args)...));
}

Status BadNormalizer(JsonValue json) {
  return MalformedFile("tokenizer.json: malformed normalizer: " + Excerpt(json.ToString()));
}

// Limits the normalizers of a file, including nested ones. Published tokenizers have about five.
constexpr int kMostSteps = 100;

Made Parse(JsonValue json, int* steps_left);

Made ParseSequence(JsonValue json, int* steps_left) {
  const JsonValue items = json.FindMember("normalizers");
  if (!items.IsArray()) return BadNormalizer(json);
  std::vector<std::unique_ptr<Normalizer>> steps;
  for (JsonValue item : items) {
    PERUSE_ASSIGN_OR_RETURN(std::unique_ptr<Normalizer> step, Parse(item, steps_left));
    if (step != nullptr && !TryPushBack(&steps, std::move(step))) return OutOfMemory("no memory for the normalizers");
  }
  return Make<SequenceNormalizer>(std::move(steps));
}

Made ParseReplace(JsonValue json) {
  const auto content = json.FindMember("content").GetString();
  if (!content) return BadNormalizer(json);
  PERUSE_ASSIGN_OR_RETURN(Pattern pattern, Pattern::FromJson(json.FindMember("pattern")));
  PERUSE_ASSIGN_OR_RETURN(std::string copy, CopyText(*content));
  return Make<ReplaceNormalizer>(std::move(pattern), std::move(copy));
}

Made ParsePrecompiled(JsonValue json) {
  const auto charsmap = json.FindMember("precompiled_charsmap").GetString();
  if (!charsmap) return BadNormalizer(json);
  PERUSE_ASSIGN_OR_RETURN(const std::string bytes, DecodeBase64(*charsmap));
  PERUSE_ASSIGN_OR_RETURN(auto normalizer, PrecompiledNormalizer::Create(bytes));
  return std::unique_ptr<Normalizer>(std::move(normalizer));
}

Made Parse(JsonValue json, int* steps_left) {
  if (!json.exists() || json.IsNull()) return std::unique_ptr<Normalizer>();
  if (--*steps_left < 0) return Unsupported("tokenizer.json: normalizer: more than 100 steps are not supported");
  const std::string_view type = json.FindMember("type").GetString().value_or("");
  if (type == "BertNormalizer") return Make<BertNormalizer>(ParseBertOptions(json));
  if (type == "Sequence") return ParseSequence(json, steps_left);
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
    PERUSE_ASSIGN_OR_RETURN(std::string copy, CopyText(*prefix));
    return Make<PrependNormalizer>(std::move(copy));
  }
  return Unsupported("tokenizer.json: normalizer \"" + Excerpt(type) + "\" is not supported");
}

}  // namespace

Made ParseNormalizer(JsonValue json) {
  int steps_left = kMostSteps;
  return Parse(json, &steps_left);
}

}  // namespace peruse::text

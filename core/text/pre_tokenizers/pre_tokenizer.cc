#include "core/text/pre_tokenizers/pre_tokenizer.h"

#include <vector>

#include "core/text/pre_tokenizers/bert_pre_tokenizer.h"
#include "core/text/pre_tokenizers/byte_level.h"
#include "core/text/pre_tokenizers/metaspace.h"
#include "core/text/pre_tokenizers/simple_pre_tokenizers.h"
#include "core/text/regex/pattern.h"

namespace peruse::text {
namespace {

using Made = Result<std::unique_ptr<PreTokenizer>>;

template <typename T, typename... Args>
Made Make(Args&&... args) {
  return std::unique_ptr<PreTokenizer>(std::make_unique<T>(std::forward<Args>(args)...));
}

Status BadPreTokenizer(JsonValue json) {
  return MalformedFile("tokenizer.json: malformed pre_tokenizer: " + Excerpt(json.ToString()));
}

Result<SplitBehavior> ParseBehavior(JsonValue json) {
  const JsonValue behavior = json.FindMember("behavior");
  if (!behavior.exists()) return SplitBehavior::kIsolated;
  const std::string_view name = behavior.GetString().value_or("");
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name == "Contiguous") return SplitBehavior::kContiguous;
  return BadPreTokenizer(json);
}

// Limits the pre-tokenizers of a file, including nested ones. Published tokenizers have about three.
constexpr int kMostSteps = 100;

Made Parse(JsonValue json, std::optional<bool> add_prefix_space, int* steps_left);

Made ParseSequence(JsonValue json, int* steps_left) {
  const JsonValue items = json.FindMember("pretokenizers");
  if (!items.IsArray()) return BadPreTokenizer(json);
  std::vector<std::unique_ptr<PreTokenizer>> steps;
  for (JsonValue item : items) {
    PERUSE_ASSIGN_OR_RETURN(std::unique_ptr<PreTokenizer> step, Parse(item, std::nullopt, steps_left));
    if (step != nullptr && !TryPushBack(&steps, std::move(step)))
      return OutOfMemory("no memory for the pre_tokenizers");
  }
  return Make<SequencePreTokenizer>(std::move(steps));
}

Made ParseSplit(JsonValue json) {
  PERUSE_ASSIGN_OR_RETURN(const SplitBehavior behavior, ParseBehavior(json));
  PERUSE_ASSIGN_OR_RETURN(Pattern pattern, Pattern::FromJson(json.FindMember("pattern")));
  const std::optional<bool> invert = json.FindMember("invert").GetBool();
  if (!invert) return BadPreTokenizer(json);
  return Make<SplitPreTokenizer>(std::move(pattern), behavior, *invert);
}

Made ParseMetaspace(JsonValue json) {
  const std::string_view replacement = json.FindMember("replacement").GetString().value_or("");
  size_t position = 0;
  if (replacement.empty()) return BadPreTokenizer(json);
  const char32_t c = DecodeUtf8(replacement, &position);
  if (position != replacement.size()) return BadPreTokenizer(json);
  const std::string_view scheme = json.FindMember("prepend_scheme").GetString().value_or("always");
  PrependScheme prepend;
  if (scheme == "always")
    prepend = PrependScheme::kAlways;
  else if (scheme == "first")
    prepend = PrependScheme::kFirst;
  else if (scheme == "never")
    prepend = PrependScheme::kNever;
  else
    return BadPreTokenizer(json);
  if (json.FindMember("add_prefix_space").GetBool() == false) {
    // Older files do not have prepend_scheme; add_prefix_space decides instead.
    if (json.FindMember("prepend_scheme").exists() && prepend != PrependScheme::kNever) return BadPreTokenizer(json);
    prepend = PrependScheme::kNever;
  }
  return Make<Metaspace>(c, prepend, json.FindMember("split").GetBool().value_or(true));
}

Made Parse(JsonValue json, std::optional<bool> add_prefix_space, int* steps_left) {
  if (!json.exists() || json.IsNull()) return std::unique_ptr<PreTokenizer>();
  if (--*steps_left < 0) return Unsupported("tokenizer.json: pre_tokenizer: more than 100 steps are not supported");
  const std::string_view type = json.FindMember("type").GetString().value_or("");
  if (type == "BertPreTokenizer") return Make<BertPreTokenizer>();
  if (type == "Sequence") return ParseSequence(json, steps_left);
  if (type == "Metaspace") return ParseMetaspace(json);
  if (type == "Split") return ParseSplit(json);
  if (type == "Whitespace") return Make<WhitespacePreTokenizer>();
  if (type == "WhitespaceSplit") return Make<WhitespaceSplitPreTokenizer>();
  if (type == "Punctuation") {
    PERUSE_ASSIGN_OR_RETURN(const SplitBehavior behavior, ParseBehavior(json));
    return Make<PunctuationPreTokenizer>(behavior);
  }
  if (type == "Digits") {
    return Make<DigitsPreTokenizer>(json.FindMember("individual_digits").GetBool().value_or(false));
  }
  if (type == "ByteLevel") {
    const bool prefix = add_prefix_space.value_or(json.FindMember("add_prefix_space").GetBool().value_or(true));
    return Make<ByteLevelPreTokenizer>(prefix, json.FindMember("use_regex").GetBool().value_or(true));
  }
  return Unsupported("tokenizer.json: pre_tokenizer \"" + Excerpt(type) + "\" is not supported");
}

}  // namespace

Made ParsePreTokenizer(JsonValue json, std::optional<bool> add_prefix_space) {
  int steps_left = kMostSteps;
  return Parse(json, add_prefix_space, &steps_left);
}

}  // namespace peruse::text

#include "core/tasks/pair_template.h"

#include <algorithm>

namespace peruse {
namespace {

Result<text::Encoding> Encode(const text::Tokenizer& tokenizer, const PairTemplate& pair_template,
                              const TemplateTexts& texts, text::EncodeOptions options) {
  using Kind = PairTemplate::Part::Kind;
  std::string whole;
  for (const PairTemplate::Part& part : texts.prompt.empty() ? pair_template.plain : pair_template.prompted) {
    if (part.kind == Kind::kText) whole += part.text;
    if (part.kind == Kind::kPrompt) whole += texts.prompt;
    if (part.kind == Kind::kQuery) whole += texts.query;
    if (part.kind == Kind::kDocument) whole += texts.document;
  }
  options.add_special_tokens = false;
  PERUSE_ASSIGN_OR_RETURN(std::vector<text::Encoding> windows, tokenizer.Encode(whole, options));
  return std::move(windows[0]);
}

}  // namespace

Result<text::Encoding> EncodeTemplate(const text::Tokenizer& tokenizer, const PairTemplate& pair_template,
                                      const TemplateTexts& texts, int32_t max_length) {
  const auto most = static_cast<size_t>(max_length);
  const text::EncodeOptions cut{.truncation = text::Truncation::kLongestFirst, .max_length = max_length};
  PERUSE_ASSIGN_OR_RETURN(text::Encoding tokens, Encode(tokenizer, pair_template, texts, cut));
  if (tokens.size() < most) return tokens;
  // The end of the template is what pairs of other contents have in common. These are the contents of sentence-transformers.
  PERUSE_ASSIGN_OR_RETURN(const text::Encoding first, Encode(tokenizer, pair_template, {texts.prompt, "0", "0"}, {}));
  PERUSE_ASSIGN_OR_RETURN(const text::Encoding second,
                          Encode(tokenizer, pair_template, {texts.prompt, "1 2 3 4", "1 2 3 4"}, {}));
  const auto [end, other] = std::mismatch(first.ids.rbegin(), first.ids.rend(), second.ids.rbegin(), second.ids.rend());
  if (end == first.ids.rend() || other == second.ids.rend()) return tokens;
  auto from = first.ids.rbegin();
  for (auto to = tokens.ids.rbegin(); from != end && to != tokens.ids.rend(); ++to, ++from) *to = *from;
  return tokens;
}

}  // namespace peruse

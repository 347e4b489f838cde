// The text that a chat template makes of a query and a document. Hosts render the template (web/src/sources/on_demand/chat_template.ts), because
// most models do not have one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/text/tokenizer.h"

namespace peruse {

struct PairTemplate {
  struct Part {
    enum class Kind : uint8_t { kText, kPrompt, kQuery, kDocument };
    Kind kind = Kind::kText;
    std::string text;  // only for kText
  };
  std::vector<Part> plain;     // without a system message
  std::vector<Part> prompted;  // with a prompt as system message
};

struct TemplateTexts {
  std::string_view prompt;  // empty means that there is no system message
  std::string_view query;
  std::string_view document;
};

// Tokenizes the text of a pair. A longer one is cut to `max_length` tokens, of which the last are those of the template's end, as
// sentence-transformers does.
Result<text::Encoding> EncodeTemplate(const text::Tokenizer& tokenizer, const PairTemplate& pair_template,
                                      const TemplateTexts& texts, int32_t max_length);

}  // namespace peruse

#pragma once

#include <memory>
#include <string_view>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/text/files/special_tokens.h"
#include "core/text/files/tokenizer_class.h"
#include "core/text/files/tokenizer_config.h"
#include "core/text/files/tokenizer_parts.h"
#include "core/text/models/model.h"

namespace peruse::text {

// Reads tokenizer.json (format 1.0) like the tokenizer class: sets the stages, the added tokens and `special`. As in transformers, only the
// direction of "truncation" counts, and "padding" is ignored.
Status ReadTokenizerJson(std::string_view bytes, const TokenizerConfig& config, const TokenizerClass& type,
                         SpecialTokens* special, Tokenizer::Parts* parts);

// Parses {"token": id, ...}. The result has views into the document. Errors: kMalformedFile.
Result<VocabularyEntries> ParseVocabularyObject(JsonValue json);

Result<std::unique_ptr<Model>> ParseModel(JsonValue json);

}  // namespace peruse::text

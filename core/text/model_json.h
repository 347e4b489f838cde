// The "model" member of tokenizer.json.
#pragma once

#include <memory>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/text/model.h"

namespace peruse::text {

// {"token": id, ...}; the views are into the document. Error: kMalformedFile.
Result<VocabularyEntries> ParseVocabularyObject(JsonValue json);

// Files without "type" are told apart by their members, as the reference does.
Result<std::unique_ptr<Model>> ParseModel(JsonValue json);

}  // namespace peruse::text

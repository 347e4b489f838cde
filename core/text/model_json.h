// The "model" member of tokenizer.json.
#pragma once

#include <memory>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/text/model.h"

namespace peruse::text {

// {"token": id, ...}; the views are into the document. Error: kMalformedFile.
Result<VocabularyEntries> ParseVocabularyObject(JsonValue json);

// Infers a missing "type" from the members, as tokenizers does.
Result<std::unique_ptr<Model>> ParseModel(JsonValue json);

}  // namespace peruse::text

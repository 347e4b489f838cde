#pragma once

#include <memory>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/text/models/model.h"

namespace peruse::text {

// Parses {"token": id, ...}. The result has views into the document. Errors: kMalformedFile.
Result<VocabularyEntries> ParseVocabularyObject(JsonValue json);

Result<std::unique_ptr<Model>> ParseModel(JsonValue json);

}  // namespace peruse::text

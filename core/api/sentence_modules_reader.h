// Reads the files that sentence-transformers writes into a folder: modules.json, the folders of its modules, sentence_bert_config.json and
// config_sentence_transformers.json, in the formats of all releases.
#pragma once

#include <optional>

#include "core/base/status.h"
#include "core/tasks/model_file.h"
#include "core/tasks/sentence_modules.h"

namespace peruse {

// Returns nullopt without modules.json; the library then uses the encoder and mean pooling, as SentenceModules{} does. Errors:
// kMalformedFile, kUnsupported (names the module).
Result<std::optional<SentenceModules>> ReadSentenceModules(const ReadModelFile& read);

// Reads a cross-encoder's prompts and activation from config_sentence_transformers.json. As the library does, ignores that file without
// modules.json.
Result<SentenceModules> ReadRankingSettings(const ReadModelFile& read);

}  // namespace peruse

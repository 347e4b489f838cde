// Reads files of sentence-transformers, in the formats of all its releases: modules.json, files in the modules' folders,
// sentence_bert_config.json and config_sentence_transformers.json.
#pragma once

#include <optional>

#include "core/base/status.h"
#include "core/tasks/model_files.h"
#include "core/tasks/sentence_modules.h"

namespace peruse {

// Returns nullopt if modules.json is absent; sentence-transformers then uses the encoder and mean pooling, like SentenceModules{}. Errors:
// kMalformedFile, kUnsupported (names the module).
Result<std::optional<SentenceModules>> ReadSentenceModules(const ReadModelFile& read);

// Reads length limit, prompts and activation of a cross-encoder from sentence_bert_config.json and config_sentence_transformers.json.
// Ignores both if modules.json is absent.
Result<SentenceModules> ReadRankingSettings(const ReadModelFile& read);

}  // namespace peruse

// Reads what the library sentence-transformers wrote into a folder: modules.json, the folders of the modules that it names,
// sentence_bert_config.json and config_sentence_transformers.json, in the forms of all its releases.
#pragma once

#include <optional>

#include "core/base/status.h"
#include "core/tasks/model_file.h"
#include "core/tasks/sentence_modules.h"

namespace peruse {

// Nothing without modules.json: then the library takes the encoder and mean pooling, and so does SentenceModules{}.
// kMalformedFile, kUnsupported (a module that is not one of these; messages name it).
Result<std::optional<SentenceModules>> ReadSentenceModules(const ReadModelFile& read);

// The prompts and the activation of a cross-encoder, from config_sentence_transformers.json. The library reads that file only
// if modules.json is there, too.
Result<SentenceModules> ReadRankingSettings(const ReadModelFile& read);

}  // namespace peruse

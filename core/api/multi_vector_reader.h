// Reads the settings of late interaction from the files of sentence-transformers' MultiVectorEncoder, of PyLate, and of Stanford's ColBERT.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/tasks/model_files.h"
#include "core/tasks/sentence_modules.h"

namespace peruse {

// Reads a positive count. Errors: kMalformedFile.
Status ReadCount(const std::string& path, std::string_view name, JsonValue value, std::optional<int32_t>* count);
// Reads sentence-transformers' query_expansion. Errors: kUnsupported for unknown members and strategies.
Status ReadExpansion(const std::string& path, JsonValue value, std::optional<QueryExpansion>* expansion);

// Returns the settings in config_sentence_transformers.json if it is that of a MultiVectorEncoder or of PyLate, with their defaults; PyLate's
// prefixes are put before the prompts. Otherwise returns nullopt.
Result<std::optional<MultiVector>> ReadMultiVector(JsonValue config, const std::string& path,
                                                   std::map<std::string, std::string>* prompts);

// Read the config.json of MultiVectorMask and HierarchicalTokenPooling.
Status ReadMask(const ReadModelFile& read, const std::string& folder, MultiVector* vectors);
Status ReadRowPooling(const ReadModelFile& read, const std::string& folder, MultiVector* vectors);

// Returns the modules of Stanford's folders, whose config.json names the class HF_ColBERT. The file artifact.metadata is optional.
bool IsStanfordColbert(std::string_view config_json);
Result<SentenceModules> ReadStanfordModules(const ReadModelFile& read);

}  // namespace peruse

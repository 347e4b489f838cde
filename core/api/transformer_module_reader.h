// Reads sentence_bert_config.json, the settings of sentence-transformers' Transformer module, in the formats of all its releases.
#pragma once

#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/tasks/model_files.h"
#include "core/tasks/sentence_modules.h"

namespace peruse {

// The module's output: the encoder's last hidden states; for cross-encoders, the logits of a sequence classifier or of a language model; for
// sparse encoders, the masked-LM logits of each token.
enum class TransformerTask { kFeatures, kLogits, kTokenLogits, kWordLogits };

// Reads the length limit and lower-casing into `modules`. Members that do not change results are ignored. Errors: kMalformedFile;
// kUnsupported, with the name of the member, for every other one.
Status ReadTransformerModule(const ReadModelFile& read, std::string_view folder, TransformerTask task,
                             SentenceModules* modules);

}  // namespace peruse

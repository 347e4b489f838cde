// Reads how a folder ranks documents: files of sentence-transformers, the tokens by which a language model answers, and its chat template.
#pragma once

#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/tasks/model_files.h"
#include "core/tasks/sentence_modules.h"
#include "core/text/tokenizer.h"

namespace peruse {

// Name of the file that a host adds for a model with a chat template: {"plain": parts, "prompted": parts}. Each part is a text, or
// {"role": "system" | "query" | "document"} in the place of that message's content.
inline constexpr std::string_view kPairTemplateFile = "pair_template.json";

// A causal language model without modules.json scores by its tokens "yes" and "no", as sentence-transformers' CrossEncoder does. `tokenizer`
// may be null. Errors: those of ReadRankingSettings; kUnsupported for a language model that lacks these tokens, or whose template is missing.
Result<RankingSettings> ReadRankingFiles(const ReadModelFile& read, std::string_view config_json,
                                         const text::Tokenizer* tokenizer);

}  // namespace peruse

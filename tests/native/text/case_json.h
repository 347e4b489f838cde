// Tokenizer cases as JSON lines, shared by the conformance test and the encode_lines tool.
//
// A case: {"text": s} or {"words": [s, ...]}, optional "pair" (s or a list, as the text), "special": false,
// "truncation": "longest_first" | "only_first" | "only_second", "max_length": n, "stride": n.
// Its encoding: a list of windows {"ids", "types", "words", "sequences", "special", "offsets"}, offsets flattened to
// [start, end, start, end, ...] in code points; null for no word and no sequence.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/text/tokenizer.h"

namespace peruse::text {

Result<std::string> EncodeCase(const Tokenizer& tokenizer, JsonValue test_case);

}  // namespace peruse::text

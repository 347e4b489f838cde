// Tokenizer cases as JSON lines, for the conformance test and the tool encode_lines. A case is {"text": s} or {"words": [s, ...]}, with
// optional "pair" (s or a list), "special": false, "truncation": "longest_first" | "only_first" | "only_second", "max_length": n, "stride":
// n. Its encoding is a list of windows {"ids", "types", "words", "sequences", "special", "offsets"}; offsets are flat [start, end, start,
// end, ...] in code points; null means no word or no sequence.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/text/tokenizer.h"

namespace peruse::text {

Result<std::string> EncodeCase(const Tokenizer& tokenizer, JsonValue test_case);

}  // namespace peruse::text

// Offset trimming: removes white space from token ranges, for RobertaProcessing and ByteLevel post-processors.
#pragma once

#include <string_view>
#include <vector>

#include "core/text/window_assembly.h"

namespace peruse::text {

// Trims `token`, which comes from `text`, and appends its range as the first token of a window. `token_text` is the token's string, which
// may be the matched text for an unknown token. Returns false when memory runs out.
[[nodiscard]] bool TrimOffset(std::string_view text, std::string_view token_text, bool add_prefix_space,
                              SequenceToken* token, std::vector<Offset>* first_offsets);

}  // namespace peruse::text

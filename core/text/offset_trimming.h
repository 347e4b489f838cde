#pragma once

#include <string_view>
#include <vector>

#include "core/text/window_assembly.h"

namespace peruse::text {

// Removes white space from the range of `token`, as RobertaProcessing and ByteLevel do. Appends to first_offsets the range for the case
// that the token is the first of a window. `token_text` is the token's string, or the matched text of an unknown token. Returns false if
// memory runs out.
[[nodiscard]] bool TrimOffset(std::string_view text, std::string_view token_text, bool add_prefix_space,
                              SequenceToken* token, std::vector<Offset>* first_offsets);

}  // namespace peruse::text

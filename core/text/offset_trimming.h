// Offset trimming: takes white space off token ranges, for RobertaProcessing and ByteLevel post-processors.
#pragma once

#include <string_view>
#include <vector>

#include "core/text/window_assembly.h"

namespace peruse::text {

// Trims `token`, which comes from `text`, and appends the range that it has as the first of its window. `token_text` is what the token
// is called, which for an unknown one may be what it stands for. False when there is no memory.
[[nodiscard]] bool TrimOffset(std::string_view text, std::string_view token_text, bool add_prefix_space,
                              SequenceToken* token, std::vector<Offset>* first_offsets);

}  // namespace peruse::text

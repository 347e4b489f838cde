// Offset trimming: takes white space off token ranges, for RobertaProcessing and ByteLevel post-processors.
#pragma once

#include <string_view>

#include "core/tokenizer/tokenizer_parts.h"
#include "core/tokenizer/window_assembly.h"

namespace peruse {

// Trims the tokens of `sequence` that are not trimmed yet (those past first_offsets), which come from `text`.
void TrimOffsets(std::string_view text, const Tokenizer::Parts& parts, SequenceEncoding* sequence);

}  // namespace peruse

// Model-independent parts of zero-shot token classification: the words of a text, and the choice among likely spans.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/text/encoding.h"

namespace peruse {

// Byte ranges of the words, as in GLiNER's WhitespaceTokenSplitter: letters, numbers and "_", joined by single "-" or "_"; every other
// non-space character is its own word.
std::vector<text::Offset> SplitWords(std::string_view text);

// Words [first, last] with a label.
struct EntityCandidate {
  int32_t first;
  int32_t last;
  int32_t label;
  float score;
};

struct EntityRules {
  bool flat = true;          // entities do not overlap; otherwise one may contain another
  bool multi_label = false;  // the same words may have several labels
};

// Returns the most probable candidates that do not conflict, by their first words (BaseDecoder.greedy_search). If two windows contain equal
// words and label, the higher score counts.
std::vector<EntityCandidate> ChooseEntities(std::vector<EntityCandidate> candidates, const EntityRules& rules);

}  // namespace peruse

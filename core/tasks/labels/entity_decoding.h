#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/text/encoding.h"

namespace peruse {

// Returns the byte ranges of words as in GLiNER's WhitespaceTokenSplitter: letters, numbers and "_", joined by single "-" or "_". Any other
// character except white space is a word of its own.
std::vector<text::Offset> SplitWords(std::string_view text);

struct EntityCandidate {
  int32_t first;
  int32_t last;
  int32_t label;
  float score;
};

struct EntityRules {
  bool flat = true;          // whether entities must not overlap; otherwise one may contain another
  bool multi_label = false;  // the same words may have several labels
};

// Returns the most probable candidates that do not conflict, ordered by first word (gliner's BaseDecoder.greedy_search). If candidates from
// two windows have equal words and label, the higher score counts.
std::vector<EntityCandidate> ChooseEntities(std::vector<EntityCandidate> candidates, const EntityRules& rules);

}  // namespace peruse

// The parts of zero-shot token classification that need no model: the words of a text, and which of the spans that a model
// thinks likely are told.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/text/encoding.h"

namespace peruse {

// Byte ranges of the words, as GLiNER's WhitespaceTokenSplitter finds them: letters, numbers and "_", joined by single "-" or
// "_"; every other character that is no white space is a word by itself.
std::vector<text::Offset> SplitWords(std::string_view text);

// Words [first, last] with a label.
struct EntityCandidate {
  int32_t first;
  int32_t last;
  int32_t label;
  float score;
};

struct EntityRules {
  bool flat = true;          // no two entities overlap; else one may lie within another
  bool multi_label = false;  // the same words may have several labels
};

// The surest ones that do not conflict, by their first words (BaseDecoder.greedy_search). Of equal words and label, found in
// two windows, the surer one counts.
std::vector<EntityCandidate> ChooseEntities(std::vector<EntityCandidate> candidates, const EntityRules& rules);

}  // namespace peruse

// Inputs of a GLiClass: the labels joined with the text, and the rows of both among its tokens. Inference and training use it.
#pragma once

#include <span>
#include <string>

#include "core/families/config.h"
#include "core/tasks/outputs.h"

namespace peruse {

// Joins `text` and labels for the tokenizer: <<LABEL>>travel<<LABEL>>food<<SEP>>The train was late, in this order or with the text first;
// for a bi-encoder without the labels, or with their markers only.
std::string WithLabels(const LabelPrompt& prompt, std::span<const std::string> labels, const std::string& text);

// Finds the rows of labels and text; `words` is empty if there is no separator token.
HeadLists LabelRows(const LabelPrompt& prompt, std::span<const int32_t> ids);

// Requests scores of the text (word 0) with each label.
void PairTextWithLabels(size_t labels, HeadLists* head);

}  // namespace peruse

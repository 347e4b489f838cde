// The input of a GLiClass: the labels with the text, and the rows of both among its tokens. Inference and training use it.
#pragma once

#include <span>
#include <string>

#include "core/families/config.h"
#include "core/tasks/outputs.h"

namespace peruse {

// `text` with the labels, as the tokenizer gets it: <<LABEL>>travel<<LABEL>>food<<SEP>>The train was late, in this order or with the text first;
// of a bi-encoder without the labels, or with markers for them.
std::string WithLabels(const LabelPrompt& prompt, std::span<const std::string> labels, const std::string& text);

// Rows of the labels and of the text; no words if the separator is not among the tokens.
HeadLists LabelRows(const LabelPrompt& prompt, std::span<const int32_t> ids);

// Asks for scores of the text, 0, with each label.
void PairTextWithLabels(size_t labels, HeadLists* head);

}  // namespace peruse

// The input of a GLiClass: labels joined with the text, and the rows of both among its tokens. For inference and training.
#pragma once

#include <span>
#include <string>

#include "core/families/config.h"
#include "core/tasks/outputs.h"

namespace peruse {

// Joins `text` and labels: <<LABEL>>travel<<LABEL>>food<<SEP>>The train was late, or with the text first. For a bi-encoder the result
// contains no labels, or only their markers.
std::string WithLabels(const LabelledInput& input, std::span<const std::string> labels, const std::string& text);

HeadLists LabelRows(const LabelledInput& input, std::span<const int32_t> ids);

void PairTextWithLabels(size_t labels, HeadLists* head);

}  // namespace peruse

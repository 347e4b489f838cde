// The head of a model, whatever its family.
#pragma once

#include "core/base/status.h"
#include "core/families/family.h"

namespace peruse {

// Adds the head of this kind as the family has it, on the last hidden state. Errors: kMalformedFile (a classifier without labels),
// kUnsupported (the family has no such head).
Status AddHead(Head head, const Family& family, const ModelConfig& config, Build& b, Value hidden);

}  // namespace peruse

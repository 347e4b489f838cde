// The head of a model, whatever its family.
#pragma once

#include "core/base/status.h"
#include "core/families/family.h"

namespace peruse {

// Whether a checkpoint of this class can have the head. kMissingHead: the class has another one under the same names.
Status CheckHead(Head head, const ModelConfig& config);

// Adds the head of this kind as the family has it, on the last hidden state. Errors: kMalformedFile (a classifier without labels),
// kUnsupported (the family has no such head).
Status AddHead(Head head, const Family& family, const ModelConfig& config, Build& b, Value hidden);

// The same for training: if the family's checkpoints lack a discriminator, it gets ELECTRA's (ConvBERT was trained with it too).
Status AddTrainedHead(Head head, const Family& family, const ModelConfig& config, Build& b, Value hidden);

}  // namespace peruse

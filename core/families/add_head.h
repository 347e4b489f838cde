// Adds the head of a model, for any family.
#pragma once

#include "core/base/status.h"
#include "core/families/family.h"

namespace peruse {

// Checks that a checkpoint of this class can have the head. Errors: kMissingHead if the class has another head under the same names.
Status CheckHead(Head head, const ModelConfig& config);

// Adds the family's head of this kind to the last hidden state. Errors: kMalformedFile (a classifier without labels), kUnsupported (the
// family lacks the head).
Status AddHead(Head head, const Family& family, const ModelConfig& config, Build& b, Value hidden);

// The same for training: if the family's checkpoints lack a discriminator, it gets ELECTRA's (as ConvBERT's training had).
Status AddTrainedHead(Head head, const Family& family, const ModelConfig& config, Build& b, Value hidden);

}  // namespace peruse

#pragma once

#include <vector>

#include "core/base/status.h"
#include "core/families/family.h"

namespace peruse {

// Refuses the class of a causal language model, which was trained to continue texts. Errors: kUnsupported.
Status CheckClass(const Family& family, const ModelConfig& config);
// Checks that checkpoints of this class can have the head. Errors: kMissingHead if another head has the same tensor names, or if the family
// lacks heads.
Status CheckHead(Head head, const ModelConfig& config);

// Adds the head to the last hidden state. Errors: kMalformedFile (a classifier without labels), kUnsupported (the family lacks it).
Status AddHead(Head head, const Family& family, const ModelConfig& config, Build& b, Value hidden);

// Returns the parameters of each program that the family can build: one program for each head that it has.
std::vector<Parameters> ParametersOfHeads(const Family& family, const ModelConfig& config, Precision precision);

// AddHead for training: gives ELECTRA's discriminator to a family that lacks one (ConvBERT was trained with it).
Status AddTrainedHead(Head head, const Family& family, const ModelConfig& config, Build& b, Value hidden);

}  // namespace peruse

#pragma once

#include <cstdint>
#include <span>

#include "core/base/status.h"
#include "core/families/config.h"
#include "core/model/runner.h"
#include "core/program/indices.h"
#include "core/program/plan.h"

namespace peruse {

// Checks texts against the model and returns their number of tokens. Errors: kInvalidArgument (no texts; ids or types out of range),
// kEmptyText, kTextTooLong, kOutOfMemory.
Result<int64_t> CheckTexts(const ModelConfig& config, std::span<const ModelInput> texts, const RunOptions& options);

// Checks that a model that reads labels gets one text with labels, or only labels for a separate label encoder.
Status CheckHeadInputs(const ModelConfig& config, size_t texts, const RunOptions& options);

Status CheckLogitRows(Head head, std::span<const int32_t> chosen, int64_t rows);

// For a run that limits attention to the first `keys` tokens of its only text. Errors: kUnsupported if the window of a token contains none
// of them, and for DeBERTa, whose class in transformers also masks the embeddings of the other tokens.
Status CheckKeys(const Plan& plan, std::span<const ModelInput> inputs, int32_t keys);

// Checks that a run over these texts fits a 32-bit address space. Errors: kOutOfMemory.
Status CheckSize(const Plan& plan, const BatchInputs& inputs);

}  // namespace peruse

// What a run may be asked for: texts, rows and labels that the model can take, and a size that memory can hold.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/status.h"
#include "core/families/config.h"
#include "core/model/runner.h"
#include "core/program/indices.h"
#include "core/program/plan.h"

namespace peruse {

// The tokens of all texts. Errors: kInvalidArgument (no texts, ids or types that the model has not), kEmptyText, kTextTooLong,
// kOutOfMemory.
Result<int64_t> CheckTexts(const ModelConfig& config, std::span<const ModelInput> texts, const RunOptions& options);

// A model that reads labels reads one text with them; or, with an encoder for labels, any number of those.
Status CheckHeadInputs(const ModelConfig& config, size_t texts, const RunOptions& options);

// The rows of a batch of so many that a masked-LM head is to score.
Status CheckLogitRows(Head head, std::span<const int32_t> chosen, int64_t rows);

// Whether a 32-bit address space holds what the plan needs for these texts. Errors: kOutOfMemory.
Status CheckSize(const Plan& plan, const BatchInputs& inputs);

}  // namespace peruse

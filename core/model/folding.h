// Constants that only depend on weights, computed once at load. DeBERTa's position keys and queries are its relative embeddings times each
// layer's projections.
#pragma once

#include "core/backend/backend.h"
#include "core/program/passes/passes.h"

namespace peruse {

// Returns the plan that computes the constants of `programs`.
Plan FoldingPlan(const Hoisted& programs);

// Runs the plan and stores its outputs in weights->constants. Errors: kOutOfMemory.
Status Fold(const Hoisted& programs, const Plan& plan, Backend& backend, Weights* weights);

// Copies the handles of another model's folded constants. Precondition: both models have the same encoder and the same weights. Returns
// false if the two models compute different constants.
bool ShareFolded(const Hoisted& from_programs, const Weights& from, const Hoisted& programs, Weights* weights);

}  // namespace peruse

// Computes constants that only depend on weights once, at load. In DeBERTa: position keys and queries, which each layer projects from the
// relative embeddings.
#pragma once

#include "core/backend/backend.h"
#include "core/program/passes/passes.h"

namespace peruse {

Plan FoldingPlan(const Hoisted& programs);

Status Fold(const Hoisted& programs, const Plan& plan, Backend& backend, Weights* weights);

// Copies handles of constants from a loaded model with the same encoder and weights. Returns false if its constants differ.
bool ShareFolded(const Hoisted& from_programs, const Weights& from, const Hoisted& programs, Weights* weights);

}  // namespace peruse

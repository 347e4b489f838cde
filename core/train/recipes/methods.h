// What each method trains, and where it cuts the model's program. Outputs of the operations before the cut do not change during training, so
// they are computed once for each example (FeatureCache).
#pragma once

#include <cstdint>
#include <string>

#include "core/base/status.h"
#include "core/program/program.h"
#include "core/train/recipes/objective.h"
#include "core/train/recipes/teach_options.h"
#include "core/train/recipes/trainee.h"

namespace peruse::train {

struct CutProgram {
  Program features;   // computes the features; unused if the method trains the whole model
  Program logits;     // computes the logits, from the features if there are any; for kContrast the vectors of the texts
  int32_t width = 0;  // columns of the features; 0 means that the method trains the whole model
  std::string
      solved;  // weight of the last linear layer, if FitLogistic solves it; features then have a row per text, else per token

  bool has_features() const { return width > 0; }
  bool by_text() const { return !solved.empty(); }
};

// Returns the number of layers that kContrast trains; 0 means that the model has too few, or that they share their weights.
int32_t ContrastLayers(Trainee& trainee);
// Errors: kInvalidArgument or kUnsupported if the method cannot train this model for this objective.
Status CheckMethod(const TeachOptions& options, Trainee& trainee, const Objective& objective);
// Marks the tensors that the method trains, and adds LoRA pairs. Errors: kInvalidArgument if LoRA finds no layer.
Status ChooseTrained(const TeachOptions& options, Trainee& trainee);
Result<CutProgram> CutFor(const TeachOptions& options, Trainee& trainee, const Objective& objective);

}  // namespace peruse::train

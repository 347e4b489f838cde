// A model with all of its weights, immutable: loaders (model_loader.h) create it, runners (runner.h) run it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/backend/backend.h"
#include "core/families/config.h"
#include "core/heads/heads.h"
#include "core/model/shared_weights.h"
#include "core/program/parameters.h"
#include "core/program/passes/passes.h"
#include "core/program/plan.h"

namespace peruse {

struct LoadReport {
  Precision precision = Precision::kF32;
  int32_t tensors_used = 0;
  std::vector<std::string> extra_tensors;  // in the file, but unused
  std::vector<std::string> head_tensors;   // the tensors of the head
  int64_t weight_bytes = 0;                // weights, constants and embedding tables
};

struct LoadedModel {
  Backend& backend;  // outlives the model
  ModelConfig config;
  Head head = Head::kNone;

  Parameters parameters;
  Hoisted programs;                       // the program of all outputs, and that of constants, run at load
  Plan plan;                              // plan of the head's outputs
  Weights weights;                        // handles; `holds` frees the linear layers
  LinearHolds holds;                      // by linear
  std::vector<std::string> tensor_names;  // by Parameters::tensors: name in the checkpoint
  LoadReport report;
  int64_t bytes_before = 0;  // Backend::WeightBytes() before this model's weights

  // 0 if the model lacks them.
  int32_t attention_heads = 0;
  int32_t attention_layers = 0;  // layers with head_mask
  int32_t span_kernel_heads = 0;
};

}  // namespace peruse

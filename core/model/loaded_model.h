// A model with all weights, immutable. A ModelLoader creates it, runners (runner.h) run it.
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
  std::vector<std::string> extra_tensors;  // tensors of the file that the model does not use
  std::vector<std::string> notices;        // warnings about the weights
  std::vector<std::string> head_tensors;
  int64_t weight_bytes = 0;  // weights, constants and embedding tables
};

struct LoadedModel {
  Backend& backend;  // must outlive the model
  ModelConfig config;
  Head head = Head::kNone;

  Parameters parameters;
  Hoisted programs;   // the program for all outputs, and the program that computes constants at load
  Plan plan;          // plan of the head's outputs
  Weights weights;    // handles; `holds` frees the linear layers
  LinearHolds holds;  // for each linear layer
  std::vector<std::string> tensor_names;  // name in the checkpoint of each of Parameters::tensors
  LoadReport report;
  int64_t bytes_before = 0;  // Backend::WeightBytes() before the load

  // 0 if the model does not have attention.
  int32_t attention_heads = 0;
  int32_t attention_layers = 0;  // number of layers to which head_mask applies
  int32_t span_kernel_heads = 0;
};

}  // namespace peruse

// Measures a backend's speed for models of a given size, with layers of the family and meaningless weights. Only needs config.json, so it
// can run before weights are downloaded. The caller measures the time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/backend/backend.h"
#include "core/base/status.h"
#include "core/families/family.h"

namespace peruse {

class SpeedProbe {
 public:
  // Creates a probe for a model. `precision`: see ModelOptions. `backend` must outlive the probe. Errors: those of ReadFamily.
  static Result<std::unique_ptr<SpeedProbe>> Create(std::string_view config_json, std::optional<Precision> precision,
                                                    Precision usual, Backend& backend);

  // Computes `layers` layers over a text; a deferred backend only records them. Errors: those of CreateLinear, kOutOfMemory.
  Status Run(int32_t layers);
  int32_t model_layers() const { return model_layers_; }

 private:
  SpeedProbe(ConfiguredFamily family, Precision precision, Backend& backend);
  Status MakeWeights(const Plan& plan, std::span<const std::span<const int32_t>> indices);
  Result<Weight> LinearLike(const LinearSpec& spec);
  Result<Tensor> ConstantLike(const ValueInfo& info);

  ConfiguredFamily family_;
  const Precision precision_;
  Backend& backend_;
  const int32_t model_layers_;
  // Layers of equal size share weights.
  std::vector<std::pair<LinearSpec, Weight>> linears_;
  std::vector<Tensor> constants_;
  Weights weights_;
  std::vector<FloatBuffer> results_;  // results are downloaded too, so that a GPU's time includes the download
};

}  // namespace peruse

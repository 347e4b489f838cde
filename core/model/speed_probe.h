// Measures a backend's speed for models of a given size: layers of the model's family with meaningless weights; the caller takes the time.
// Needs only config.json, so it can run before any weights are downloaded.
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
  // Creates a probe for the model of config_json; precision as in ModelOptions. `backend` outlives it. Errors: those of ReadFamily.
  static Result<std::unique_ptr<SpeedProbe>> Create(std::string_view config_json, std::optional<Precision> precision,
                                                    Precision usual, Backend& backend);

  // Computes, or on a deferred backend records, `layers` layers over a text. Errors: those of CreateLinear, kOutOfMemory.
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
  std::vector<FloatBuffer> results_;  // downloaded results, so that a GPU's time includes its readback
};

}  // namespace peruse

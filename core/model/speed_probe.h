// How fast is a backend with models of a given size? Layers of the model's own family, weights without a meaning: the caller
// takes the time. Nothing of the checkpoint but its config.json is needed, so it can be asked before any weight is there.
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
  // The model is that of config_json, the precision as in ModelOptions. Errors: those of ReadFamily. `backend` outlives it.
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
  // Layers that are equally large share their weights.
  std::vector<std::pair<LinearSpec, Weight>> linears_;
  std::vector<Tensor> constants_;
  Weights weights_;
  std::vector<FloatBuffer> results_;  // what is downloaded, so that a GPU's time includes its readback
};

}  // namespace peruse

// How fast is a backend with models of a given size? Typical encoder layers, weights without a meaning: the caller takes
// the time. Nothing of the checkpoint but its config.json is needed, so it can be asked before any weight is there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/backend/backend.h"
#include "core/base/status.h"

namespace peruse {

class SpeedProbe {
 public:
  // The sizes are those of config_json, the precision as in ModelOptions. Errors: those of ParseModelConfig and of
  // CreateLinear. `backend` outlives it.
  static Result<std::unique_ptr<SpeedProbe>> Create(std::string_view config_json, std::optional<Precision> precision,
                                                    Precision usual, Backend& backend);

  // Computes, or on a deferred backend records, `layers` layers over kTokens tokens, all with the same weights.
  Status Run(int32_t layers);
  int32_t model_layers() const { return model_layers_; }

 private:
  static constexpr int32_t kTokens = 64;

  explicit SpeedProbe(Backend& backend) : backend_(backend) {}
  Status Initialize(std::string_view config_json, std::optional<Precision> precision, Precision usual);
  Status MakeLinear(const LinearSpec& spec, Weight* weight);
  void Layer(const RaggedBatch& batch, Tensor x, Tensor out);

  Backend& backend_;
  int32_t hidden_ = 0;
  int32_t intermediate_ = 0;
  int32_t heads_ = 0;
  int32_t model_layers_ = 0;
  Weight query_key_value_;
  Weight output_;
  Weight up_;
  Weight down_;
  Norm norm_;
  std::vector<float> result_;  // what is downloaded, so that a GPU's time includes its readback
};

}  // namespace peruse

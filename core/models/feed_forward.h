// The feed-forward half of a layer: BertIntermediate and BertOutput, alike in all families.
#pragma once

#include <string>

#include "core/backend/backend.h"
#include "core/models/config.h"
#include "core/weights/binder.h"

namespace peruse {

struct FeedForward {
  Weight intermediate;  // hidden -> intermediate
  Weight output;        // intermediate -> hidden
  Norm norm;

  // layer: "encoder.layer.0."; groups: of both linears (ConvBERT's num_groups).
  void Declare(Binder& binder, const std::string& layer, const ModelConfig& config, int32_t groups) {
    binder.GroupedLinear(layer + "intermediate.dense", config.hidden_size, config.intermediate_size, groups,
                         &intermediate);
    // Its inputs, behind the activation function, are the ones that lose most in 8 bits.
    binder.GroupedLinear(layer + "output.dense", config.intermediate_size, config.hidden_size, groups, &output,
                         /*wide_input=*/true);
    binder.LayerNorm(layer + "output.LayerNorm", config.hidden_size, config.layer_norm_eps, &norm);
  }

  // out = norm(output(act(intermediate(x))) + x)      x, out [rows, hidden]
  void Forward(Backend& backend, Tensor x, Activation activation, Tensor out) const {
    Scope scope(backend);
    const Tensor wide = backend.New(x.rows, intermediate.out);  // [rows, intermediate]
    backend.Linear(x, intermediate, activation, wide);
    backend.LinearAddNorm(wide, output, x, norm, out);
  }
};

}  // namespace peruse

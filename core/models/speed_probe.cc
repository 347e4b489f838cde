#include "core/models/speed_probe.h"

#include <cmath>

#include "core/backend/quantize.h"
#include "core/models/config.h"

namespace peruse {

Result<std::unique_ptr<SpeedProbe>> SpeedProbe::Create(std::string_view config_json, std::optional<Precision> precision,
                                                       Precision usual, Backend& backend) {
  std::unique_ptr<SpeedProbe> probe(new SpeedProbe(backend));
  PERUSE_RETURN_IF_ERROR(probe->Initialize(config_json, precision, usual));
  return probe;
}

Status SpeedProbe::MakeLinear(const LinearSpec& spec, Weight* weight) {
  PERUSE_ASSIGN_OR_RETURN(*weight, backend_.CreateLinear(spec));
  const std::vector<float> row(static_cast<size_t>(spec.in), 1.0f / static_cast<float>(spec.in));
  std::vector<int8_t> integers(row.size());
  const std::vector<float> scale = {QuantizeRow(std::span(row), kWeightLevels, integers.data())};
  for (int32_t r = 0; r < spec.out; ++r) {
    if (spec.precision == Precision::kQ8) {
      PERUSE_RETURN_IF_ERROR(backend_.WriteInt8(*weight, r, integers));
      PERUSE_RETURN_IF_ERROR(backend_.WriteScales(*weight, r, scale));
    } else {
      PERUSE_RETURN_IF_ERROR(backend_.WriteLinear(*weight, r, row));
    }
  }
  return backend_.WriteBias(*weight, 0, std::vector<float>(static_cast<size_t>(spec.out)));
}

Status SpeedProbe::Initialize(std::string_view config_json, std::optional<Precision> precision, Precision usual) {
  PERUSE_ASSIGN_OR_RETURN(const ModelConfig config, ParseModelConfig(config_json));
  hidden_ = config.hidden_size;
  intermediate_ = config.intermediate_size;
  heads_ = hidden_ % config.num_attention_heads == 0 ? config.num_attention_heads : 1;
  model_layers_ = config.num_hidden_layers;
  LinearSpec spec = {.precision = precision.value_or(config.int8_weights ? Precision::kQ8 : usual)};
  const auto make = [&](int32_t in, int32_t out, Weight* weight) {
    spec.in = in;
    spec.out = out;
    return MakeLinear(spec, weight);
  };
  PERUSE_RETURN_IF_ERROR(make(hidden_, 3 * hidden_, &query_key_value_));
  PERUSE_RETURN_IF_ERROR(make(hidden_, hidden_, &output_));
  PERUSE_RETURN_IF_ERROR(make(hidden_, intermediate_, &up_));
  spec.wide_input = true;  // as in FeedForward
  PERUSE_RETURN_IF_ERROR(make(intermediate_, hidden_, &down_));
  const std::vector<float> ones(static_cast<size_t>(hidden_), 1.0f);
  PERUSE_ASSIGN_OR_RETURN(norm_.weight, backend_.CreateConstant(1, hidden_));
  PERUSE_ASSIGN_OR_RETURN(norm_.bias, backend_.CreateConstant(1, hidden_));
  norm_.eps = 1e-7f;
  PERUSE_RETURN_IF_ERROR(backend_.WriteConstant(norm_.weight, 0, ones));
  return backend_.WriteConstant(norm_.bias, 0, ones);
}

void SpeedProbe::Layer(const RaggedBatch& batch, Tensor x, Tensor out) {
  const Scope scope(backend_);
  const Tensor projected = backend_.New(kTokens, 3 * hidden_);
  backend_.Linear(x, query_key_value_, Activation::kNone, projected);
  const Tensor context = backend_.New(kTokens, hidden_);
  backend_.Attention({projected.Columns(0, hidden_), projected.Columns(hidden_, hidden_),
                      projected.Columns(2 * hidden_, hidden_), heads_, 1, Tensor()},
                     batch, context);
  const Tensor attended = backend_.New(kTokens, hidden_);
  backend_.LinearAddNorm(context, output_, x, norm_, attended);
  const Tensor between = backend_.New(kTokens, intermediate_);
  backend_.Linear(attended, up_, Activation::kGelu, between);
  backend_.LinearAddNorm(between, down_, attended, norm_, out);
}

Status SpeedProbe::Run(int32_t layers) {
  RaggedBatch batch;
  batch.Append(kTokens);
  backend_.BeginRun();
  const Scope scope(backend_);
  Tensor x = backend_.New(kTokens, hidden_);
  Tensor out = backend_.New(kTokens, hidden_);
  std::vector<float> values(static_cast<size_t>(kTokens) * static_cast<size_t>(hidden_));
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i));
  backend_.Upload(values, x);
  for (int32_t i = 0; i < layers; ++i) {
    Layer(batch, x, out);
    std::swap(x, out);
  }
  result_.resize(static_cast<size_t>(hidden_) * kTokens);
  backend_.Download(x, result_);
  return backend_.deferred() ? OkStatus() : backend_.Submit();
}

}  // namespace peruse

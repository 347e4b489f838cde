#include "core/model/speed_probe.h"

#include <algorithm>

#include "core/base/elementary.h"
#include "core/program/indices.h"
#include "core/program/passes/passes.h"

namespace peruse {
namespace {

constexpr size_t kTokens = 64;  // number of tokens in the text

}  // namespace

Result<std::unique_ptr<SpeedProbe>> SpeedProbe::Create(std::string_view config_json, std::optional<Precision> precision,
                                                       Precision usual, Backend& backend) {
  PERUSE_ASSIGN_OR_RETURN(ConfiguredFamily family, ReadFamily(config_json));
  usual = family.config.stored_precision.value_or(usual);
  return std::unique_ptr<SpeedProbe>(new SpeedProbe(std::move(family), precision.value_or(usual), backend));
}

SpeedProbe::SpeedProbe(ConfiguredFamily family, Precision precision, Backend& backend)
    : family_(std::move(family)),
      precision_(precision),
      backend_(backend),
      model_layers_(family_.config.num_hidden_layers),
      results_(1) {}

Result<Weight> SpeedProbe::LinearLike(const LinearSpec& spec) {
  for (const auto& [known, weight] : linears_) {
    if (known == spec) return weight;
  }
  PERUSE_ASSIGN_OR_RETURN(const Weight weight, backend_.CreateLinear(spec));
  const int32_t width = spec.in / spec.groups;
  const std::vector<float> row(static_cast<size_t>(width), 1.0f / static_cast<float>(width));
  EncodedBuffer buffer;
  for (int32_t r = 0; r < spec.out; ++r) {
    PERUSE_RETURN_IF_ERROR(WriteFloats(backend_, weight, spec, r, row, &buffer));
  }
  linears_.emplace_back(spec, weight);
  return weight;
}

Result<Tensor> SpeedProbe::ConstantLike(const ValueInfo& info) {
  for (const Tensor& known : constants_) {
    if (known.rows == info.rows.factor && known.cols == info.cols.factor) return known;
  }
  PERUSE_ASSIGN_OR_RETURN(const Tensor constant, backend_.CreateConstant(info.rows.factor, info.cols.factor));
  const std::vector<float> ones(static_cast<size_t>(constant.cols), 1.0f);
  for (int32_t r = 0; r < constant.rows; ++r) PERUSE_RETURN_IF_ERROR(backend_.WriteConstant(constant, r, ones));
  constants_.push_back(constant);
  return constant;
}

// Creates the weights that the plan uses, and only those rows of embedding tables that the text looks up.
Status SpeedProbe::MakeWeights(const Plan& plan, std::span<const std::span<const int32_t>> indices) {
  const Program& program = plan.program;
  weights_.linears.assign(program.linears.size(), {});
  weights_.constants.assign(static_cast<size_t>(program.constants), {});
  weights_.tables.resize(static_cast<size_t>(program.tables));
  for (const Op& op : program.ops) {
    if (const LinearId id = LinearOf(op); id.valid()) {
      const auto index = static_cast<size_t>(id.id);
      PERUSE_ASSIGN_OR_RETURN(weights_.linears[index], LinearLike(program.linears[index]));
    }
    for (const Value* value : InputsOf(op)) {
      const ValueInfo& info = program.info(program.Root(*value));
      if (info.constant < 0) continue;
      PERUSE_ASSIGN_OR_RETURN(weights_.constants[static_cast<size_t>(info.constant)], ConstantLike(info));
    }
    const auto* embed = std::get_if<ops::Embed>(&op);
    if (embed == nullptr) continue;
    for (const ops::Embed::Lookup& lookup : embed->lookups) {
      if (!lookup.index.valid()) continue;
      const std::span<const int32_t> rows = indices[static_cast<size_t>(lookup.index.id)];
      std::vector<float> row(static_cast<size_t>(program.info(embed->out).cols.factor));
      EmbeddingTable& table = weights_.tables[static_cast<size_t>(lookup.table.id)];
      const int32_t count = *std::max_element(rows.begin(), rows.end()) + 1;
      PERUSE_RETURN_IF_ERROR(table.Allocate(count, static_cast<int32_t>(row.size()), DType::kF32));
      for (int32_t r = 0; r < count; ++r) {
        for (size_t c = 0; c < row.size(); ++c)
          row[c] = static_cast<float>(DirectionOf(static_cast<double>(r) + static_cast<double>(c)).sine);
        PERUSE_RETURN_IF_ERROR(table.WriteRows(r, row));
      }
    }
  }
  return OkStatus();
}

Status SpeedProbe::Run(int32_t layers) {
  ModelConfig config = family_.config;
  config.num_hidden_layers = layers;
  Program program;
  Parameters parameters;
  Build b(program, parameters, backend_.LinearPrecision(precision_));
  const Value hidden = family_.family->Encode(b, config);
  program.outputs = {{kLastHiddenState, hidden}};
  // Omits the constants that only depend on weights: their values do not affect the speed.
  const Plan plan = PlanFor(HoistConstants(std::move(program)).run, std::vector<int32_t>{0});

  const std::vector<int32_t> ids(kTokens, 0);
  const ModelInput text = {ids, {}};
  RaggedBatch batch;
  batch.Append(static_cast<int32_t>(kTokens));
  const BatchInputs inputs = {{&text, 1}, batch, {}};
  BatchIndices indices;
  indices.Fill(plan.program, inputs);
  PERUSE_RETURN_IF_ERROR(MakeWeights(plan, indices.views()));
  PERUSE_RETURN_IF_ERROR(
      backend_.Run(plan, weights_, {.batch = batch, .sizes = SizesOf(inputs), .indices = indices.views()}, results_));
  return backend_.deferred() ? OkStatus() : backend_.Submit();
}

}  // namespace peruse

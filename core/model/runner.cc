#include "core/model/runner.h"

#include <algorithm>
#include <utility>

#include "core/formats/quantize.h"
#include "core/model/run_checks.h"

namespace peruse {
namespace {

class ModelRunner final : public Runner {
 public:
  explicit ModelRunner(std::shared_ptr<const LoadedModel> model)
      : model_(std::move(model)), masks_(static_cast<size_t>(model_->attention_layers)) {}

  const ModelConfig& config() const override { return model_->config; }
  Head head() const override { return model_->head; }

  Status Begin(std::span<const ModelInput> inputs, const RunOptions& options) override;
  Status Finish() override;

  const RaggedBatch& batch() const override { return batch_; }
  ModelOutput output(OutputId id) const override;
  std::vector<OutputId> Outputs() const override;
  int32_t attention_heads() const override { return model_->attention_heads; }
  int32_t attention_layers() const override { return model_->attention_layers; }
  int32_t span_kernel_heads() const override { return model_->span_kernel_heads; }
  AttentionTerms attention_terms(int32_t layer) const override;

 private:
  const Program& program() const { return model_->programs.run; }
  // Returns the plan for these outputs, and computes it at the first request. `masked` means that the caller gives a head_mask.
  Result<const Plan*> PlanOf(std::span<const OutputId> ids, bool masked);
  void FillMasks(std::span<const float> head_mask, int64_t tokens);

  const std::shared_ptr<const LoadedModel> model_;

  // Reused by all runs: a warm call does not allocate (tests/native/memory/warm_call_test.cc).
  struct Prepared {
    std::vector<int32_t> outputs;  // indices into the outputs of program()
    bool masked;
    Plan plan;
  };
  std::vector<std::unique_ptr<Prepared>> plans_;
  std::vector<int32_t> wanted_;
  RaggedBatch batch_;
  BatchIndices indices_;
  const Plan* plan_ = nullptr;  // the plan of the last run
  Sizes sizes_;
  std::vector<FloatBuffer> results_;  // indexed by output of the plan
  std::vector<std::vector<float>> masks_;
  std::vector<std::span<const float>> matrices_;  // label vectors, then masks_, indexed by ops::Input::number
};

void ModelRunner::FillMasks(std::span<const float> head_mask, int64_t tokens) {
  const auto heads = static_cast<size_t>(model_->attention_heads);
  matrices_.resize(kFirstMask + masks_.size());
  for (const Op& op : program().ops) {
    const auto* input = std::get_if<ops::Input>(&op);
    if (input == nullptr || !input->optional) continue;
    const auto layer = static_cast<size_t>(input->number - kFirstMask);
    const int32_t head_dim = program().info(input->out).cols.factor / model_->attention_heads;
    std::vector<float>& mask = masks_[layer];
    mask.clear();
    for (int64_t t = 0; t < tokens; ++t) {
      for (const float factor : head_mask.subspan(layer * heads, heads)) {
        mask.insert(mask.end(), static_cast<size_t>(head_dim), factor);
      }
    }
    matrices_[kFirstMask + layer] = mask;
  }
}

AttentionTerms ModelRunner::attention_terms(int32_t layer) const {
  const auto values = [&](OutputKind kind) { return output({kind, layer}).values; };
  const std::vector<ProgramOutput>& outputs = program().outputs;
  const OutputId id = {OutputKind::kAttention, layer};
  const auto found = std::find_if(outputs.begin(), outputs.end(), [&](const auto& one) { return one.id == id; });
  for (const Op& op : program().ops) {
    const auto* attention = std::get_if<ops::Attention>(&op);
    if (attention == nullptr || found == outputs.end() || attention->probabilities != found->value) continue;
    return {.heads = attention->heads,
            .width = program().info(attention->query).cols.factor,
            .scale = attention->scale,
            .query = values(OutputKind::kQuery),
            .key = values(OutputKind::kKey),
            .position_key = values(OutputKind::kPositionKey),
            .position_query = values(OutputKind::kPositionQuery),
            .slots = attention->slots.valid() ? indices_.views()[static_cast<size_t>(attention->slots.id)]
                                              : std::span<const int32_t>()};
  }
  return {};
}

Result<const Plan*> ModelRunner::PlanOf(std::span<const OutputId> ids, bool masked) {
  if (ids.empty() && !masked) return &model_->plan;
  const std::vector<ProgramOutput>& outputs = program().outputs;
  wanted_.clear();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputId id = outputs[i].id;
    const bool wanted = ids.empty() ? IsOfHead(id) : std::find(ids.begin(), ids.end(), id) != ids.end();
    if (wanted) wanted_.push_back(static_cast<int32_t>(i));
  }
  for (const OutputId id : ids) {
    const auto is_it = [&](const ProgramOutput& output) { return output.id == id; };
    if (std::any_of(outputs.begin(), outputs.end(), is_it)) continue;
    return InvalidArgument("the model has no output \"" + NameOf(id) + "\"");
  }
  for (const auto& prepared : plans_) {
    if (prepared->outputs == wanted_ && prepared->masked == masked) return &prepared->plan;
  }
  plans_.push_back(std::make_unique<Prepared>(Prepared{wanted_, masked, PlanFor(program(), wanted_, masked)}));
  return &plans_.back()->plan;
}

Status ModelRunner::Begin(std::span<const ModelInput> inputs, const RunOptions& options) {
  PERUSE_ASSIGN_OR_RETURN(const int64_t tokens, CheckTexts(config(), inputs, options));
  PERUSE_RETURN_IF_ERROR(CheckLogitRows(head(), options.logit_rows, tokens));
  PERUSE_RETURN_IF_ERROR(CheckHeadInputs(config(), inputs.size(), options));
  const bool masked = !options.head_mask.empty();
  if (masked && config().label_encoder) return Unsupported("head_mask is not for models with an encoder for labels");
  if (masked && options.head_mask.size() != masks_.size() * static_cast<size_t>(attention_heads())) {
    return InvalidArgument("head_mask does not have a number for each head");
  }
  PERUSE_ASSIGN_OR_RETURN(const Plan* const plan, PlanOf(options.outputs, masked));
  if (options.keys > 0) PERUSE_RETURN_IF_ERROR(CheckKeys(*plan, inputs, options.keys));

  plan_ = nullptr;  // the results of the last run are no longer valid
  batch_.Clear();
  for (const ModelInput& input : inputs) batch_.Append(static_cast<int32_t>(input.ids.size()));
  if (options.keys > 0) batch_.SetKeyLimit(options.keys);
  const BatchInputs batch_inputs = {inputs, batch_, options.logit_rows, options.head_inputs};
  PERUSE_RETURN_IF_ERROR(CheckSize(*plan, batch_inputs));
  sizes_ = SizesOf(batch_inputs);
  plan_ = plan;
  if (results_.size() < plan->program.outputs.size()) results_.resize(plan->program.outputs.size());
  indices_.Fill(plan->program, batch_inputs);
  matrices_.assign(1, options.head_inputs.label_vectors);
  if (masked) FillMasks(options.head_mask, tokens);
  return model_->backend.Run(*plan, model_->weights,
                             {.batch = batch_, .sizes = sizes_, .indices = indices_.views(), .matrices = matrices_},
                             results_);
}

// Weights are finite, so NaN or infinity in a result means overflow.
Status ModelRunner::Finish() {
  PERUSE_RETURN_IF_ERROR(model_->backend.Submit());
  if (plan_ == nullptr) return OkStatus();
  const std::vector<ProgramOutput>& outputs = plan_->program.outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!AllFinite(results_[i].values())) return NotFinite(NameOf(outputs[i].id));
  }
  return OkStatus();
}

ModelOutput ModelRunner::output(OutputId id) const {
  if (plan_ == nullptr) return {};
  const std::vector<ProgramOutput>& outputs = plan_->program.outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].id != id) continue;
    const ValueInfo& info = plan_->program.info(outputs[i].value);
    return {results_[i].values(), info.rows, static_cast<int32_t>(sizes_(info.cols))};
  }
  return {};
}

std::vector<OutputId> ModelRunner::Outputs() const {
  std::vector<OutputId> ids;
  for (const ProgramOutput& output : program().outputs) ids.push_back(output.id);
  return ids;
}

}  // namespace

Status NotFinite(std::string_view what) {
  return Unsupported("the model's " + std::string(what) +
                     " are not finite numbers: something in it is too large for what it is computed in, of which dtype "
                     "\"f32\" has the largest range");
}

std::unique_ptr<Runner> CreateRunner(std::shared_ptr<const LoadedModel> model) {
  return std::make_unique<ModelRunner>(std::move(model));
}

}  // namespace peruse

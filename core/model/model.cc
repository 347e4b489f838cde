#include "core/model/model.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/families/family.h"
#include "core/formats/quantize.h"
#include "core/model/add_head.h"
#include "core/model/folding.h"
#include "core/model/run_checks.h"
#include "core/model/shared_weights.h"
#include "core/program/passes/passes.h"
#include "core/program/plan.h"
#include "core/weights/binder.h"
#include "core/weights/shard_index.h"
#include "core/weights/weights_parser.h"

namespace peruse {
namespace {

// Heads whose tensors have the same names, so that only the class in config.json tells them apart.
std::optional<Head> ClassifierOfClass(std::string_view class_name) {
  if (class_name.ends_with("ForSequenceClassification")) return Head::kSequenceClassification;
  if (class_name.ends_with("ForTokenClassification")) return Head::kTokenClassification;
  if (class_name.ends_with("ForMultipleChoice")) return Head::kMultipleChoice;
  return std::nullopt;
}

bool IsClassifier(Head head) {
  return head == Head::kSequenceClassification || head == Head::kTokenClassification || head == Head::kMultipleChoice;
}

Status CheckHead(Head head, const ModelConfig& config) {
  const std::optional<Head> trained = ClassifierOfClass(config.architecture_class);
  if (!IsClassifier(head) || !trained || *trained == head) return OkStatus();
  return Status(StatusCode::kMissingHead, "the checkpoint has no head for " + std::string(HeadName(head)) +
                                              ": config.json says that it is a " + config.architecture_class);
}

class CheckpointModel : public Model {
 public:
  CheckpointModel(ConfiguredFamily family, const ModelOptions& options, Backend& backend)
      : family_(std::move(family.family)),
        config_(std::move(family.config)),
        options_(options),
        backend_(backend),
        precision_(options.precision.value_or(config_.int8_weights ? Precision::kQ8 : options.usual_precision)),
        bytes_before_(backend.WeightBytes()) {}

  ~CheckpointModel() override { HoldLinears(); }  // and lets go of them: those of a load that failed too

  Status Initialize();

  bool needs_weights() const override { return needs_weights_; }
  Status SetAdapter(std::unique_ptr<LoraAdapter> adapter) override;
  Result<std::vector<std::string>> SetShardIndex(std::string_view index_json) override;
  Status EndShard() override;
  Status FeedWeights(std::span<const uint8_t> chunk) override;
  Status FinishWeights() override;

  const ModelConfig& config() const override { return config_; }
  Head head() const override { return options_.head; }
  const LoadReport& load_report() const override { return report_; }
  const Program* program() const override { return &plans_.front()->plan.program; }

  Status Begin(std::span<const ModelInput> inputs, const RunOptions& options) override;
  Status Finish() override;

  const RaggedBatch& batch() const override { return batch_; }
  ModelOutput output(std::string_view name) const override;
  std::vector<std::string> OutputNames() const override;
  int32_t attention_heads() const override { return attention_heads_; }
  int32_t span_kernel_heads() const override { return span_kernel_heads_; }
  int32_t attention_layers() const override { return static_cast<int32_t>(masks_.size()); }
  AttentionTerms attention_terms(int32_t layer) const override;

 private:
  Status Keep(Status status);
  TensorVisitor& Sink() { return merger_ ? static_cast<TensorVisitor&>(*merger_) : *binder_; }
  // Takes what `other` holds of the weights; gives the pieces that need not be read.
  std::vector<bool> Share(const CheckpointModel& other);
  void FillReport();
  void HoldLinears() {
    for (size_t i = 0; i < holds_.size(); ++i) {
      const Weight weight = weights_.linears[i];
      if (!holds_[i] && weight.valid()) holds_[i] = std::make_shared<LinearHold>(backend_, weight);
    }
  }
  // Computes the constants that depend on weights alone, and frees the layers that only those need.
  Status FoldConstants();
  // The plan for these outputs, made when it is first asked for; masked: of a run with a head_mask.
  Result<const Plan*> PlanOf(std::span<const std::string> names, bool masked = false);
  // A row of the mask for each token, as the program's inputs are.
  void FillMasks(std::span<const float> head_mask, int64_t tokens);

  const std::unique_ptr<Family> family_;
  ModelConfig config_;
  const ModelOptions options_;
  Backend& backend_;
  const Precision precision_;
  int64_t bytes_before_;

  Parameters parameters_;
  Hoisted programs_;
  Plan folding_plan_;
  int32_t attention_heads_ = 0;
  int32_t span_kernel_heads_ = 0;
  Weights weights_;
  LinearHolds holds_;

  bool needs_weights_ = true;
  bool has_folded_ = false;               // another model's constants
  std::vector<std::string> piece_names_;  // once loaded: the tensor that each piece is

  // While loading
  std::unique_ptr<Binder> binder_;
  std::unique_ptr<LoraAdapter> adapter_;
  std::unique_ptr<LoraMerger> merger_;  // stands before the binder, where there is an adapter
  std::unique_ptr<WeightsParser> parser_;
  bool between_shards_ = false;
  Status failure_;  // of loading
  LoadReport report_;

  // What follows is used again by each run: a warm call allocates nothing (tests/native/memory/warm_call_test.cc).
  struct Prepared {
    std::vector<int32_t> outputs;  // by number in programs_.run
    bool masked;
    Plan plan;
  };
  std::vector<std::unique_ptr<Prepared>> plans_;
  std::vector<int32_t> wanted_;
  RaggedBatch batch_;
  RaggedBatch next_batch_;  // until it is known to be sound
  BatchIndices indices_;
  const Plan* plan_ = nullptr;  // of the last run
  Sizes sizes_;
  std::vector<FloatBuffer> results_;              // by output of the plan
  std::vector<std::vector<float>> masks_;         // by layer
  std::vector<std::span<const float>> matrices_;  // by ops::Input::number: the labels' vectors, then masks_
};

Status CheckpointModel::Initialize() {
  PERUSE_RETURN_IF_ERROR(CheckHead(options_.head, config_));
  if (config_.vocab_size < 0) config_.vocab_size = options_.vocabulary;
  Program program;
  Build b(program, parameters_, precision_);
  Value hidden;
  if (options_.enhanced_mask_decoder) {
    if (options_.head != Head::kMaskedLm) {
      return InvalidArgument("the enhanced mask decoder belongs to DeBERTa's masked-LM head");
    }
    PERUSE_ASSIGN_OR_RETURN(hidden, family_->EncodeForMaskDecoder(b, config_));
  } else {
    hidden = family_->Encode(b, config_);
  }
  PERUSE_RETURN_IF_ERROR(AddHead(options_.head, *family_, config_, b, hidden));
  for (const Op& op : program.ops) {
    if (const auto* attention = std::get_if<ops::Attention>(&op)) attention_heads_ = attention->heads;
    if (const auto* conv = std::get_if<ops::SpanConv>(&op)) span_kernel_heads_ = conv->heads;
    if (const auto* input = std::get_if<ops::Input>(&op); input != nullptr && input->optional) {
      masks_.resize(std::max(masks_.size(), static_cast<size_t>(input->number - kFirstMask) + 1));
    }
  }
  programs_ = HoistConstants(std::move(program));
  folding_plan_ = FoldingPlan(programs_);
  PERUSE_ASSIGN_OR_RETURN(const Plan* const plan, PlanOf({}));  // what a call computes that asks for nothing else
  backend_.Prepare(*plan);
  backend_.Prepare(folding_plan_);
  weights_.linears.resize(programs_.run.linears.size());
  weights_.constants.resize(static_cast<size_t>(programs_.run.constants));
  weights_.tables.resize(static_cast<size_t>(programs_.run.tables));
  holds_.resize(programs_.run.linears.size());
  binder_ = std::make_unique<Binder>(backend_, precision_, family_->prefixes(), parameters_, weights_);
  parser_ = std::make_unique<WeightsParser>(*binder_);
  if (options_.beside != nullptr) binder_->Hold(Share(static_cast<const CheckpointModel&>(*options_.beside)));
  return OkStatus();
}

// ---- Loading --------------------------------------------------------------------------------------------------------

Status CheckpointModel::Keep(Status status) {
  if (failure_.ok()) failure_ = std::move(status);
  return failure_;
}

std::vector<bool> CheckpointModel::Share(const CheckpointModel& other) {
  if (precision_ != other.precision_ || !ShareFolded(other.programs_, other.weights_, programs_, &weights_)) return {};
  const std::vector<bool> held =
      TakeHeld({other.parameters_, other.weights_, other.holds_}, parameters_, &weights_, &holds_);
  has_folded_ = true;
  bytes_before_ = other.bytes_before_;
  needs_weights_ = std::find(held.begin(), held.end(), false) != held.end();
  between_shards_ = !needs_weights_;
  if (needs_weights_) return held;

  // Nothing will be read: the file is the other's.
  std::set<std::string> used;
  for (const Piece& piece : parameters_.pieces) {
    const auto is_same = [&](const Piece& one) { return one.names == piece.names && one.kind == piece.kind; };
    const auto found = std::find_if(other.parameters_.pieces.begin(), other.parameters_.pieces.end(), is_same);
    const auto number = static_cast<size_t>(found - other.parameters_.pieces.begin());
    piece_names_.push_back(other.piece_names_[number]);
    if (used.insert(piece_names_.back()).second && !piece.head.empty())
      report_.head_tensors.push_back(piece_names_.back());
  }
  report_.tensors_used = static_cast<int32_t>(used.size());
  report_.extra_tensors = other.report_.extra_tensors;
  for (const std::string& name : std::set<std::string>(other.piece_names_.begin(), other.piece_names_.end())) {
    if (!used.contains(name)) report_.extra_tensors.push_back(name);
  }
  return held;
}

Status CheckpointModel::SetAdapter(std::unique_ptr<LoraAdapter> adapter) {
  if (!parser_) return InvalidArgument("the weights are loaded already");
  adapter_ = std::move(adapter);
  merger_ = std::make_unique<LoraMerger>(*adapter_, family_->prefixes(), *binder_);
  parser_ = std::make_unique<WeightsParser>(Sink());
  return OkStatus();
}

Result<std::vector<std::string>> CheckpointModel::SetShardIndex(std::string_view index_json) {
  PERUSE_RETURN_IF_ERROR(failure_);
  Result<ShardIndex> index = ParseShardIndex(index_json);
  if (!index.ok()) return Keep(index.status());
  if (merger_) {
    Result<std::vector<std::string>> names = merger_->SetNames(index->tensors);
    if (!names.ok()) return Keep(names.status());
    index->tensors = std::move(*names);
  }
  PERUSE_RETURN_IF_ERROR(Keep(binder_->SetNames(index->tensors)));
  return std::move(index->files);
}

Status CheckpointModel::EndShard() {
  if (!parser_) return InvalidArgument("the weights are loaded already");
  PERUSE_RETURN_IF_ERROR(failure_);
  PERUSE_RETURN_IF_ERROR(Keep(parser_->Finish()));
  binder_->NextFile();
  parser_ = std::make_unique<WeightsParser>(Sink());
  between_shards_ = true;
  return OkStatus();
}

Status CheckpointModel::FeedWeights(std::span<const uint8_t> chunk) {
  if (!parser_) return InvalidArgument("the weights are loaded already");
  PERUSE_RETURN_IF_ERROR(failure_);
  between_shards_ = between_shards_ && chunk.empty();
  return Keep(parser_->Feed(chunk));
}

Status CheckpointModel::FoldConstants() {
  if (programs_.load.ops.empty() || has_folded_) return OkStatus();
  PERUSE_RETURN_IF_ERROR(Fold(programs_, folding_plan_, backend_, &weights_));
  std::vector<bool> used(weights_.linears.size());
  for (const Op& op : programs_.run.ops) {
    if (const LinearId weight = LinearOf(op); weight.valid()) used[static_cast<size_t>(weight.id)] = true;
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) continue;
    holds_[i].reset();
    weights_.linears[i] = {};
  }
  return OkStatus();
}

Status CheckpointModel::FinishWeights() {
  if (!parser_) return InvalidArgument("the weights are loaded already");
  PERUSE_RETURN_IF_ERROR(failure_);
  if (!between_shards_) PERUSE_RETURN_IF_ERROR(Keep(parser_->Finish()));
  PERUSE_RETURN_IF_ERROR(Keep(binder_->Finish()));
  HoldLinears();
  PERUSE_RETURN_IF_ERROR(Keep(FoldConstants()));
  FillReport();
  parser_.reset();
  merger_.reset();
  adapter_.reset();
  binder_.reset();
  return OkStatus();
}

void CheckpointModel::FillReport() {
  report_.precision = precision_;
  if (needs_weights_) {
    report_.tensors_used = binder_->tensors_used();
    report_.extra_tensors = binder_->extra_tensors();
    report_.head_tensors = binder_->HeadTensors();
    piece_names_ = binder_->PieceNames();
  }
  report_.weight_bytes = backend_.WeightBytes() - bytes_before_;
  for (const EmbeddingTable& table : weights_.tables) report_.weight_bytes += table.bytes();
}

// ---- Running --------------------------------------------------------------------------------------------------------

void CheckpointModel::FillMasks(std::span<const float> head_mask, int64_t tokens) {
  matrices_.resize(kFirstMask + masks_.size());
  for (const Op& op : programs_.run.ops) {
    const auto* input = std::get_if<ops::Input>(&op);
    if (input == nullptr || !input->optional) continue;
    const auto layer = static_cast<size_t>(input->number - kFirstMask);
    const int32_t head_dim = programs_.run.info(input->out).cols.factor / attention_heads_;
    std::vector<float>& mask = masks_[layer];
    mask.clear();
    for (int64_t t = 0; t < tokens; ++t) {
      for (const float factor :
           head_mask.subspan(layer * static_cast<size_t>(attention_heads_), static_cast<size_t>(attention_heads_))) {
        mask.insert(mask.end(), static_cast<size_t>(head_dim), factor);
      }
    }
    matrices_[kFirstMask + layer] = mask;
  }
}

AttentionTerms CheckpointModel::attention_terms(int32_t layer) const {
  const auto values = [&](const char* name) { return output(name + ("." + std::to_string(layer))).values; };
  const std::vector<ProgramOutput>& outputs = programs_.run.outputs;
  const std::string name = "attention." + std::to_string(layer);
  const auto found = std::find_if(outputs.begin(), outputs.end(), [&](const auto& one) { return one.name == name; });
  for (const Op& op : programs_.run.ops) {
    const auto* attention = std::get_if<ops::Attention>(&op);
    if (attention == nullptr || found == outputs.end() || attention->probabilities != found->value) continue;
    return {.heads = attention->heads,
            .width = programs_.run.info(attention->query).cols.factor,
            .scale = attention->scale,
            .query = values("query"),
            .key = values("key"),
            .position_key = values("position_key"),
            .position_query = values("position_query"),
            .slots = attention->slots.valid() ? indices_.views()[static_cast<size_t>(attention->slots.id)]
                                              : std::span<const int32_t>()};
  }
  return {};
}

Result<const Plan*> CheckpointModel::PlanOf(std::span<const std::string> names, bool masked) {
  const std::vector<ProgramOutput>& outputs = programs_.run.outputs;
  wanted_.clear();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = outputs[i].name;
    // What lies on the way to the head's outputs has the number of a layer.
    const bool wanted = names.empty() ? name.find('.') == std::string::npos
                                      : std::find(names.begin(), names.end(), name) != names.end();
    if (wanted) wanted_.push_back(static_cast<int32_t>(i));
  }
  for (const std::string& name : names) {
    const auto is_named = [&](const ProgramOutput& output) { return output.name == name; };
    if (std::any_of(outputs.begin(), outputs.end(), is_named)) continue;
    return InvalidArgument("the model has no output \"" + name + "\"");
  }
  for (const auto& prepared : plans_) {
    if (prepared->outputs == wanted_ && prepared->masked == masked) return &prepared->plan;
  }
  plans_.push_back(std::make_unique<Prepared>(Prepared{wanted_, masked, PlanFor(programs_.run, wanted_, masked)}));
  return &plans_.back()->plan;
}

Status CheckpointModel::Begin(std::span<const ModelInput> inputs, const RunOptions& options) {
  PERUSE_RETURN_IF_ERROR(failure_);
  if (parser_) return InvalidArgument("the weights are not loaded yet");
  PERUSE_ASSIGN_OR_RETURN(const int64_t tokens, CheckTexts(config_, inputs, options));
  next_batch_.Clear();
  for (const ModelInput& input : inputs) next_batch_.Append(static_cast<int32_t>(input.ids.size()));
  PERUSE_RETURN_IF_ERROR(CheckLogitRows(options_.head, options.logit_rows, tokens));
  PERUSE_RETURN_IF_ERROR(CheckHeadInputs(config_, inputs.size(), options));
  const bool masked = !options.head_mask.empty();
  if (masked && config_.label_encoder) return Unsupported("head_mask is not for models with an encoder for labels");
  if (masked && options.head_mask.size() != masks_.size() * static_cast<size_t>(attention_heads_)) {
    return InvalidArgument("head_mask does not have a number for each head");
  }
  PERUSE_ASSIGN_OR_RETURN(const Plan* const plan, PlanOf(options.outputs, masked));
  PERUSE_RETURN_IF_ERROR(CheckSize(*plan, {inputs, next_batch_, options.logit_rows, options.head_inputs}));

  batch_ = next_batch_;  // a copy: both keep their memory
  const BatchInputs batch_inputs = {inputs, batch_, options.logit_rows, options.head_inputs};
  sizes_ = SizesOf(batch_inputs);
  plan_ = plan;
  if (results_.size() < plan->program.outputs.size()) results_.resize(plan->program.outputs.size());
  indices_.Fill(plan->program, batch_inputs);
  matrices_.assign(1, options.head_inputs.label_vectors);
  if (masked) FillMasks(options.head_mask, tokens);
  return backend_.Run(*plan, weights_,
                      {.batch = batch_, .sizes = sizes_, .indices = indices_.views(), .matrices = matrices_}, results_);
}

// The weights were finite, so what is not has overflowed on the way.
Status CheckpointModel::Finish() {
  PERUSE_RETURN_IF_ERROR(backend_.Submit());
  if (plan_ == nullptr) return OkStatus();
  const std::vector<ProgramOutput>& outputs = plan_->program.outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!AllFinite(results_[i].values())) return NotFinite(outputs[i].name);
  }
  return OkStatus();
}

ModelOutput CheckpointModel::output(std::string_view name) const {
  if (plan_ == nullptr) return {};
  const std::vector<ProgramOutput>& outputs = plan_->program.outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].name != name) continue;
    const ValueInfo& info = plan_->program.info(outputs[i].value);
    return {results_[i].values(), info.rows, static_cast<int32_t>(sizes_(info.cols))};
  }
  return {};
}

std::vector<std::string> CheckpointModel::OutputNames() const {
  std::vector<std::string> names;
  for (const ProgramOutput& output : programs_.run.outputs) names.push_back(output.name);
  return names;
}

}  // namespace

Status NotFinite(std::string_view what) {
  return Unsupported("the model's " + std::string(what) +
                     " are not finite numbers: something in it is too large for what it is computed in, of which dtype "
                     "\"f32\" has the largest range");
}

Result<std::unique_ptr<Model>> Model::Create(std::string_view config_json, const ModelOptions& options,
                                             Backend& backend) {
  PERUSE_ASSIGN_OR_RETURN(ConfiguredFamily family, ReadFamily(config_json));
  auto model = std::make_unique<CheckpointModel>(std::move(family), options, backend);
  PERUSE_RETURN_IF_ERROR(model->Initialize());
  return std::unique_ptr<Model>(std::move(model));
}

}  // namespace peruse

#include "core/model/model_loader.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "core/base/name_list.h"
#include "core/families/add_head.h"
#include "core/model/folding.h"

namespace peruse {
namespace {

// Rejects adapters that separate embeddings from the decoder that shares their tensor. An adapter that was trained after tokens were added
// holds both with equal values.
Status CheckTied(const LoraAdapter& adapter) {
  const std::vector<LoraTensor>& tensors = adapter.tensors();
  const LoraTensor* shared = nullptr;
  for (const LoraTensor& tensor : tensors) {
    if (tensor.info.name.ends_with("word_embeddings.weight") && !tensor.is_separate) shared = &tensor;
  }
  const auto check = [](const std::string& name) {
    for (const char* end :
         {"word_embeddings.weight", "decoder.weight", "generator_lm_head.weight", "vocab_projector.weight"}) {
      if (!name.ends_with(end)) continue;
      return Unsupported("the adapter changes \"" + name +
                         "\" of a masked LM whose word embeddings and decoder are one tensor (tie_word_embeddings)");
    }
    return OkStatus();
  };
  for (const LoraUpdate& update : adapter.updates()) PERUSE_RETURN_IF_ERROR(check(update.name));
  for (const LoraTensor& tensor : tensors) {
    const bool is_same = shared != nullptr && tensor.info.shape == shared->info.shape && tensor.bytes == shared->bytes;
    if (!is_same) PERUSE_RETURN_IF_ERROR(check(tensor.info.name));
  }
  return OkStatus();
}

std::vector<bool> UsedLinears(const Program& program) {
  std::vector<bool> used(program.linears.size());
  for (const Op& op : program.ops) {
    if (const LinearId weight = LinearOf(op); weight.valid()) used[static_cast<size_t>(weight.id)] = true;
  }
  return used;
}

// Parts that heads of no task read: other objectives of pre-training, and tensors that earlier versions of libraries saved.
constexpr std::string_view kUnusedParts[] = {"pooler.",           "cls.",
                                             "sop_classifier.",   "lm_head.",
                                             "mask_predictions.", "lm_predictions.",
                                             "predictions.",      "classifier.",
                                             "qa_outputs.",       "discriminator_",
                                             "generator_",        "vocab_",
                                             "pre_classifier.",   "sequence_summary.",
                                             "decoder.",          "head."};
constexpr std::string_view kUnusedEnds[] = {"lora_A",         "lora_B",   "position_ids",
                                            "token_type_ids", "inv_freq", "num_batches_tracked"};

// Layers after the encoder that are not transformers': late interaction, and other projections. Without them features are others.
constexpr const char* kForeignLayers[] = {"linear.",    "proj.", "projection.", "projector.",       "text_projection.",
                                          "text_proj.", "fc.",   "out_proj.",   "custom_text_proj."};

int32_t SizeWith(std::span<const std::string> added_tokens, const text::Tokenizer* tokenizer) {
  if (tokenizer == nullptr) return 0;
  const auto lacking = std::count_if(added_tokens.begin(), added_tokens.end(),
                                     [tokenizer](const std::string& token) { return !tokenizer->TokenToId(token); });
  return tokenizer->vocab_size() + static_cast<int32_t>(lacking);
}

}  // namespace

ModelLoader::ModelLoader(ConfiguredFamily family, const ModelOptions& options, Backend& backend)
    : backend_(backend),
      family_(std::move(family.family)),
      model_(new LoadedModel{.backend = backend, .config = std::move(family.config), .head = options.head}) {
  const Precision usual = model_->config.stored_precision.value_or(options.usual_precision);
  model_->report.precision = options.precision.value_or(usual);
  model_->bytes_before = backend.WeightBytes();
}

// Frees the linear layers of a failed load, which do not have holders yet.
ModelLoader::~ModelLoader() { HoldLinears(); }

Result<std::unique_ptr<ModelLoader>> ModelLoader::Create(std::string_view config_json, const ModelOptions& options,
                                                         Backend& backend) {
  PERUSE_ASSIGN_OR_RETURN(ConfiguredFamily family, ReadFamily(config_json));
  if (!options.id2label.empty()) SetLabels(options.id2label, &family.config);
  std::unique_ptr<ModelLoader> loader(new ModelLoader(std::move(family), options, backend));
  LoadedModel& model = *loader->model_;
  model.config.score_tokens = options.score_tokens;
  model.config.sparse_pooling = options.sparse_pooling;
  model.config.token_vector = options.token_vector;
  if (options.vocab_size) model.config.vocab_size = *options.vocab_size;
  if (!options.has_modules) PERUSE_RETURN_IF_ERROR(CheckClass(*loader->family_, model.config));
  PERUSE_RETURN_IF_ERROR(CheckHead(options.head, model.config));
  if (model.config.vocab_size < 0) model.config.vocab_size = SizeWith(model.config.added_tokens, options.tokenizer);
  PERUSE_RETURN_IF_ERROR(loader->BuildProgram(options));
  PERUSE_RETURN_IF_ERROR(backend.Prepare(model.plan));
  PERUSE_RETURN_IF_ERROR(backend.Prepare(loader->folding_plan_));

  const Program& program = model.programs.run;
  model.weights.linears.resize(program.linears.size());
  model.weights.constants.resize(static_cast<size_t>(program.constants));
  model.weights.tables.resize(static_cast<size_t>(program.tables));
  model.holds.resize(program.linears.size());
  loader->writer_ = std::make_unique<ParameterWriter>(backend, model.report.precision, model.parameters, model.weights);
  loader->checkpoint_ = std::make_unique<Checkpoint>(model.parameters, loader->family_->prefixes(), *loader->writer_);
  if (options.beside != nullptr) loader->Share(*options.beside);
  loader->CompareDecoder();
  return loader;
}

Status ModelLoader::BuildProgram(const ModelOptions& options) {
  LoadedModel& model = *model_;
  Program program;
  Build b(program, model.parameters, backend_.LinearPrecision(model.report.precision));
  Value hidden;
  if (options.enhanced_mask_decoder) {
    if (options.head != Head::kMaskedLm) {
      return InvalidArgument("the enhanced mask decoder belongs to DeBERTa's masked-LM head");
    }
    PERUSE_ASSIGN_OR_RETURN(hidden, family_->EncodeForMaskDecoder(b, model.config));
  } else {
    hidden = family_->Encode(b, model.config);
  }
  PERUSE_RETURN_IF_ERROR(AddHead(options.head, *family_, model.config, b, hidden));
  for (const char* layer : kForeignLayers) {
    if (options.head == Head::kNone && model.config.model_type != "static") b.Refuse(layer);
  }
  for (const Op& op : program.ops) {
    if (const auto* attention = std::get_if<ops::Attention>(&op)) model.attention_heads = attention->heads;
    if (const auto* conv = std::get_if<ops::SpanConv>(&op)) model.span_kernel_heads = conv->heads;
    if (const auto* input = std::get_if<ops::Input>(&op); input != nullptr && input->optional) {
      model.attention_layers = std::max(model.attention_layers, input->number - kFirstMask + 1);
    }
  }
  model.programs = HoistConstants(std::move(program));
  std::vector<int32_t> head_outputs;
  const std::vector<ProgramOutput>& outputs = model.programs.run.outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (IsOfHead(outputs[i].id)) head_outputs.push_back(static_cast<int32_t>(i));
  }
  model.plan = PlanFor(model.programs.run, head_outputs);
  folding_plan_ = FoldingPlan(model.programs);
  return OkStatus();
}

int64_t ModelLoader::WeightBytes() const {
  constexpr int64_t kFloat = sizeof(float);
  const LoadedModel& model = *model_;
  const Parameters& parameters = model.parameters;
  int64_t bytes = 0;
  const std::vector<bool> used = UsedLinears(model.programs.run);
  for (size_t i = 0; i < parameters.linears.size(); ++i) {
    const LinearSpec& spec = parameters.linears[i];
    const WeightFormat& format = FormatOf(spec.precision);
    const int64_t width = spec.in / spec.groups;
    if (used[i]) bytes += spec.out * (format.RowMemory(width) + kFloat);
  }
  for (const ConstantSpec& spec : parameters.constants) bytes += kFloat * spec.rows * spec.cols;
  for (const ProgramOutput& folded : model.programs.load.outputs) {
    const ValueInfo& info = model.programs.run.info(folded.value);
    bytes += kFloat * info.rows.factor * info.cols.factor;
  }
  for (const ParameterTensor& tensor : parameters.tensors) {
    if (tensor.parameter.kind != ParameterId::Kind::kTable) continue;
    const TableSpec& spec = parameters.table(tensor.parameter);
    const DType stored = checkpoint_->StoredType(tensor).value_or(DType::kF32);
    const DType type = FormatOf(model.report.precision).TableType(stored, spec.words);
    bytes += EmbeddingTable::Bytes(spec.rows, spec.cols, type);
  }
  return bytes;
}

std::optional<int32_t> ModelLoader::LabelsOf(const LoraAdapter& adapter) const {
  const LoadedModel& model = *model_;
  if (model.head != Head::kSequenceClassification && model.head != Head::kTokenClassification) return {};
  for (const ParameterTensor& parameter : model.parameters.tensors) {
    const bool is_weight = parameter.parameter.kind == ParameterId::Kind::kWeight;
    if (parameter.head.empty() || !is_weight || parameter.shape.front() != model.config.num_labels()) continue;
    for (const LoraTensor& tensor : adapter.tensors()) {
      const auto is_it = [&](const std::string& name) { return tensor.info.name == name; };
      const std::vector<int64_t>& shape = tensor.info.shape;
      if (std::none_of(parameter.names.begin(), parameter.names.end(), is_it)) continue;
      if (shape.size() != parameter.shape.size()) continue;
      const bool fits = std::equal(shape.begin() + 1, shape.end(), parameter.shape.begin() + 1);
      const bool differs = shape[0] != model.config.num_labels() && shape[0] > 0 && shape[0] <= kMaxLabels;
      if (fits && differs) return static_cast<int32_t>(shape[0]);
    }
  }
  return {};
}

std::optional<int32_t> ModelLoader::TokensOf(const LoraAdapter& adapter) const {
  const Parameters& parameters = model_->parameters;
  for (const ParameterTensor& parameter : parameters.tensors) {
    if (parameter.parameter.kind != ParameterId::Kind::kTable || !parameters.table(parameter.parameter).words) continue;
    for (const LoraTensor& tensor : adapter.tensors()) {
      const std::string name = checkpoint_->names().WithoutPrefix(tensor.info.name);
      const std::vector<int64_t>& shape = tensor.info.shape;
      if (std::find(parameter.names.begin(), parameter.names.end(), name) == parameter.names.end()) continue;
      if (shape.size() != 2 || shape[1] != parameter.shape[1] || shape[0] == model_->config.vocab_size) continue;
      if (shape[0] > 0 && shape[0] <= kMaxVocabulary) return static_cast<int32_t>(shape[0]);
    }
  }
  return {};
}

Status ModelLoader::SetAdapter(std::unique_ptr<LoraAdapter> adapter) {
  const bool reads_words = model_->head == Head::kMaskedLm || model_->head == Head::kVocabulary;
  if (reads_words && model_->config.tie_word_embeddings) {
    PERUSE_RETURN_IF_ERROR(CheckTied(*adapter));
  }
  checkpoint_->SetAdapter(std::move(adapter), backend_.pool());
  return OkStatus();
}

void ModelLoader::Share(const LoadedModel& other) {
  LoadedModel& model = *model_;
  if (model.report.precision != other.report.precision) return;
  if (!ShareFolded(other.programs, other.weights, model.programs, &model.weights)) return;
  has_folded_ = true;
  model.bytes_before = other.bytes_before;
  std::vector<bool> held =
      TakeHeld({other.parameters, other.weights, other.holds}, model.parameters, &model.weights, &model.holds);
  needs_weights_ = std::find(held.begin(), held.end(), false) != held.end();
  if (!needs_weights_) ReportSharedTensors(other);
  checkpoint_->Skip(std::move(held));
}

void ModelLoader::ReportSharedTensors(const LoadedModel& other) {
  LoadedModel& model = *model_;
  LoadReport& report = model.report;
  std::set<std::string> used;
  for (const ParameterTensor& tensor : model.parameters.tensors) {
    const auto is_same = [&](const ParameterTensor& one) {
      return one.names == tensor.names && one.layout == tensor.layout;
    };
    const auto& theirs = other.parameters.tensors;
    const auto found = std::find_if(theirs.begin(), theirs.end(), is_same);
    const std::string& name = other.tensor_names[static_cast<size_t>(found - theirs.begin())];
    model.tensor_names.push_back(name);
    if (used.insert(name).second && !tensor.head.empty()) report.head_tensors.push_back(name);
  }
  report.tensors_used = static_cast<int32_t>(used.size());
  report.extra_tensors = other.report.extra_tensors;
  for (const std::string& name : std::set<std::string>(other.tensor_names.begin(), other.tensor_names.end())) {
    if (!used.contains(name)) report.extra_tensors.push_back(name);
  }
}

void ModelLoader::HoldLinears() {
  for (size_t i = 0; i < model_->holds.size(); ++i) {
    const Weight weight = model_->weights.linears[i];
    if (!model_->holds[i] && weight.valid()) model_->holds[i] = std::make_shared<LinearHold>(backend_, weight);
  }
}

Result<std::shared_ptr<const LoadedModel>> ModelLoader::Finish() {
  if (needs_weights_) PERUSE_RETURN_IF_ERROR(checkpoint_->Finish());
  HoldLinears();
  PERUSE_RETURN_IF_ERROR(FoldConstants());
  FillReport();
  return std::shared_ptr<const LoadedModel>(model_);
}

// Computes the constants that only depend on weights, and frees layers that are then unused.
Status ModelLoader::FoldConstants() {
  LoadedModel& model = *model_;
  if (model.programs.load.ops.empty() || has_folded_) return OkStatus();
  PERUSE_RETURN_IF_ERROR(Fold(model.programs, folding_plan_, backend_, &model.weights));
  const std::vector<bool> used = UsedLinears(model.programs.run);
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) continue;
    model.holds[i].reset();
    model.weights.linears[i] = {};
  }
  return OkStatus();
}

void ModelLoader::CompareDecoder() {
  if (model_->head != Head::kMaskedLm || !model_->config.tie_word_embeddings) return;
  ModelConfig untied = model_->config;
  untied.tie_word_embeddings = false;
  const std::vector<std::string> shared = family_->MaskedLm(model_->config).decoder,
                                 own = family_->MaskedLm(untied).decoder;
  if (!shared.empty() && !own.empty() && shared.front() != own.front())
    checkpoint_->Compare(shared.front(), own.front());
}

void ModelLoader::ReportUnread() {
  std::set<std::string, std::less<>> known;
  for (const Parameters& parameters : ParametersOfHeads(*family_, model_->config, model_->report.precision)) {
    for (const ParameterTensor& tensor : parameters.tensors) known.insert(tensor.names.begin(), tensor.names.end());
  }
  NameList unread;
  for (const std::string& name : checkpoint_->extra_tensors()) {
    const std::string bare = checkpoint_->names().Normalise(name);
    const auto begins = [&](std::string_view part) { return bare.starts_with(part); };
    const auto ends = [&](std::string_view end) { return bare.ends_with(end); };
    if (known.contains(bare) || std::any_of(std::begin(kUnusedParts), std::end(kUnusedParts), begins)) continue;
    if (std::none_of(std::begin(kUnusedEnds), std::end(kUnusedEnds), ends)) unread.Add(name);
  }
  if (unread.empty()) return;
  model_->report.notices.push_back("The weights have tensors that Peruse does not read: " + unread.Text() +
                                   ". If they belong to the model, its results are others than they should be.");
}

void ModelLoader::FillReport() {
  LoadedModel& model = *model_;
  LoadReport& report = model.report;
  if (needs_weights_) {
    report.tensors_used = checkpoint_->tensors_used();
    report.extra_tensors = checkpoint_->extra_tensors();
    if (!report.extra_tensors.empty()) ReportUnread();
    if (checkpoint_->have_different_values()) {
      report.notices.push_back(
          "The weights have a decoder matrix other than the token embeddings. Peruse uses the embeddings, as "
          "tie_word_embeddings in "
          "config.json says and as transformers 4 does; transformers 5 uses the decoder matrix. To use it, set "
          "tie_word_embeddings to "
          "false.");
    }
    std::set<std::string> of_head;
    for (const ParameterTensor& tensor : model.parameters.tensors) {
      const std::string& name = model.tensor_names.emplace_back(checkpoint_->names().Of(tensor));
      if (!tensor.head.empty() && of_head.insert(name).second) report.head_tensors.push_back(name);
    }
  }
  report.weight_bytes = backend_.WeightBytes() - model.bytes_before;
  for (const EmbeddingTable& table : model.weights.tables) report.weight_bytes += table.bytes();
}

}  // namespace peruse

#include "core/models/model.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/json.h"
#include "core/models/bert.h"
#include "core/models/convbert.h"
#include "core/models/deberta.h"
#include "core/models/embeddings.h"
#include "core/models/encoder.h"
#include "core/models/heads.h"
#include "core/models/layer_loop.h"
#include "core/models/lightconv.h"
#include "core/weights/binder.h"
#include "core/weights/safetensors.h"

namespace peruse {
namespace {

// Elements that one matrix of a run may have: 2 GiB of floats, what a 32-bit address space can hold at all.
constexpr int64_t kMaxElements = int64_t{1} << 29;

std::vector<std::string> Prefixes(Architecture architecture) {
  switch (architecture) {
    case Architecture::kBert:
      return {"bert."};
    case Architecture::kElectra:
      return {"electra."};
    case Architecture::kConvBert:
      return {"convbert.", "conv_bert."};
    case Architecture::kLightConv:
      return {"lightconv."};
    case Architecture::kDynamicConv:
      return {"dynamicconv."};
    case Architecture::kDeberta:
    case Architecture::kDebertaV2:
      return {"deberta.", "bert."};  // older Microsoft files say bert
  }
  return {};
}

std::unique_ptr<Encoder> CreateEncoder(const ModelConfig& config, bool enhanced_mask_decoder) {
  switch (config.architecture) {
    case Architecture::kBert:
    case Architecture::kElectra:
      return std::make_unique<BertEncoder>(config);
    case Architecture::kConvBert:
      return std::make_unique<ConvBertEncoder>(config);
    case Architecture::kLightConv:
    case Architecture::kDynamicConv:
      return std::make_unique<LightConvEncoder>(config);
    case Architecture::kDeberta:
    case Architecture::kDebertaV2:
      return std::make_unique<DebertaEncoder>(config, enhanced_mask_decoder);
  }
  return nullptr;
}

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

Status CheckMaskDecoder(const ModelOptions& options, const ModelConfig& config) {
  if (!options.enhanced_mask_decoder) return OkStatus();
  if (!config.is_deberta() || options.head != Head::kMaskedLm) {
    return InvalidArgument("the enhanced mask decoder belongs to DeBERTa's masked-LM head");
  }
  if (config.num_hidden_layers < 2 || config.embedding_size != config.hidden_size) {
    return Unsupported("the enhanced mask decoder needs two layers and embedding_size equal to hidden_size");
  }
  return OkStatus();
}

// A shard's name becomes part of a URL or path: a plain file name, nothing that leads elsewhere.
bool IsPlainFileName(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.find_first_of("/\\:?#%") == std::string_view::npos;
}

struct ShardIndex {
  std::vector<std::string> tensors;
  std::vector<std::string> files;
};

Result<ShardIndex> ParseShardIndex(std::string_view json) {
  constexpr std::string_view kName = "model.safetensors.index.json";
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(json, kName));
  const JsonValue map = document.root().FindMember("weight_map");
  if (!map.IsObject()) return MalformedFile(std::string(kName) + " has no weight_map");
  ShardIndex index;
  std::set<std::string> files;
  for (size_t i = 0; i < map.size(); ++i) {
    const auto file = map.MemberValue(i).GetString();
    if (!file || !IsPlainFileName(*file)) {
      return MalformedFile(std::string(kName) + ": tensor \"" + std::string(map.MemberName(i)) +
                           "\" is not in a file with a plain name");
    }
    index.tensors.emplace_back(map.MemberName(i));
    files.emplace(*file);
  }
  index.files.assign(files.begin(), files.end());
  return index;
}

class CheckpointModel : public Model {
 public:
  CheckpointModel(ModelConfig config, const ModelOptions& options, Backend& backend)
      : config_(std::move(config)),
        options_(options),
        backend_(backend),
        precision_(options.precision.value_or(config_.int8_weights ? Precision::kQ8 : options.usual_precision)),
        bytes_before_(backend.WeightBytes()),
        embeddings_(config_),
        binder_(std::make_unique<Binder>(backend, precision_, Prefixes(config_.architecture),
                                         [this](Binder& binder) { return Declare(binder); })),
        parser_(std::make_unique<SafetensorsParser>(*binder_)) {}

  Status Initialize();

  Result<std::vector<std::string>> SetShardIndex(std::string_view index_json) override;
  Status EndShard() override;
  Status FeedWeights(std::span<const uint8_t> chunk) override;
  Status FinishWeights() override;

  const ModelConfig& config() const override { return config_; }
  Head head() const override { return options_.head; }
  const LoadReport& load_report() const override { return report_; }

  Status Begin(std::span<const ModelInput> inputs, const RunOptions& options) override;
  Status Finish() override { return backend_.Submit(); }

  const RaggedBatch& batch() const override { return batch_; }
  std::span<const float> logits() const override { return head_ ? output_.values() : std::span<const float>(); }
  int32_t logit_rows() const override { return head_ ? output_rows_ : 0; }
  int32_t logit_cols() const override { return head_ ? head_->logit_cols() : 0; }
  std::span<const float> last_hidden() const override { return head_ ? std::span<const float>() : output_.values(); }
  int32_t hidden_state_count() const override { return Count(inspection_.hidden_states()); }
  std::span<const float> hidden_state(int32_t i) const override { return At(inspection_.hidden_states(), i); }
  int32_t attention_count() const override { return Count(inspection_.attentions()); }
  int32_t attention_heads() const override { return encoder_->attention_heads(); }
  std::span<const float> attention(int32_t i) const override { return At(inspection_.attentions(), i); }
  int32_t span_kernel_count() const override { return Count(inspection_.span_kernels()); }
  std::span<const float> span_kernel(int32_t i) const override { return At(inspection_.span_kernels(), i); }

 private:
  static int32_t Count(const Inspection::Matrices& matrices) { return static_cast<int32_t>(matrices.size()); }
  static std::span<const float> At(const Inspection::Matrices& matrices, int32_t index) {
    PERUSE_CHECK(index >= 0 && index < Count(matrices));
    return matrices[static_cast<size_t>(index)].values();
  }

  Status Declare(Binder& binder);
  Status Keep(Status status);
  Status CheckInput(const ModelInput& input, size_t index) const;
  Status CheckLogitRows(const RunOptions& options, int64_t rows) const;
  Status CheckSize(const RaggedBatch& batch, const RunOptions& options) const;
  Status Run(std::span<const ModelInput> inputs, const RunOptions& options);
  // Makes rows_read_.
  void FindRowsRead(const RunOptions& options);

  const ModelConfig config_;
  const ModelOptions options_;
  Backend& backend_;
  const Precision precision_;
  const int64_t bytes_before_;

  Embeddings embeddings_;
  std::unique_ptr<Encoder> encoder_;
  std::unique_ptr<HeadLayer> head_;

  // While loading
  std::unique_ptr<Binder> binder_;
  std::unique_ptr<SafetensorsParser> parser_;
  bool between_shards_ = false;
  Status failure_;  // of loading
  LoadReport report_;

  // What follows is used again by each run: a warm call allocates nothing (tests/native/memory/warm_call_test.cc).
  RaggedBatch batch_;
  RaggedBatch next_batch_;          // until it is known to be sound
  std::vector<int32_t> rows_read_;  // of the last hidden state, by the head; empty: all
  Inspection inspection_;
  FloatBuffer output_;  // logits, or the last hidden state
  int32_t output_rows_ = 0;
};

Status CheckpointModel::Initialize() {
  PERUSE_RETURN_IF_ERROR(CheckHead(options_.head, config_));
  PERUSE_RETURN_IF_ERROR(CheckMaskDecoder(options_, config_));
  // With absolute positions in the embeddings the decoder is the plain last layer (spec: end of D6).
  const bool decoder = options_.enhanced_mask_decoder && !config_.deberta.position_biased_input;
  encoder_ = CreateEncoder(config_, decoder);
  PERUSE_ASSIGN_OR_RETURN(head_, CreateHead(options_.head, config_));
  Outlook outlook = encoder_->outlook();
  outlook.precision = precision_;
  backend_.Prepare(outlook);
  return OkStatus();
}

// ---- Loading --------------------------------------------------------------------------------------------------------

Status CheckpointModel::Declare(Binder& binder) {
  embeddings_.Declare(binder);
  encoder_->Declare(binder);
  if (head_) {
    binder.BeginHead(HeadName(options_.head));
    head_->Declare(binder);
  }
  return OkStatus();
}

Status CheckpointModel::Keep(Status status) {
  if (failure_.ok()) failure_ = std::move(status);
  return failure_;
}

Result<std::vector<std::string>> CheckpointModel::SetShardIndex(std::string_view index_json) {
  PERUSE_RETURN_IF_ERROR(failure_);
  Result<ShardIndex> index = ParseShardIndex(index_json);
  if (!index.ok()) return Keep(index.status());
  PERUSE_RETURN_IF_ERROR(Keep(binder_->SetNames(index->tensors)));
  return std::move(index->files);
}

Status CheckpointModel::EndShard() {
  if (!parser_) return InvalidArgument("the weights are loaded already");
  PERUSE_RETURN_IF_ERROR(failure_);
  PERUSE_RETURN_IF_ERROR(Keep(parser_->Finish()));
  binder_->NextFile();
  parser_ = std::make_unique<SafetensorsParser>(*binder_);
  between_shards_ = true;
  return OkStatus();
}

Status CheckpointModel::FeedWeights(std::span<const uint8_t> chunk) {
  if (!parser_) return InvalidArgument("the weights are loaded already");
  PERUSE_RETURN_IF_ERROR(failure_);
  between_shards_ = between_shards_ && chunk.empty();
  return Keep(parser_->Feed(chunk));
}

Status CheckpointModel::FinishWeights() {
  if (!parser_) return InvalidArgument("the weights are loaded already");
  PERUSE_RETURN_IF_ERROR(failure_);
  if (!between_shards_) PERUSE_RETURN_IF_ERROR(Keep(parser_->Finish()));
  PERUSE_RETURN_IF_ERROR(Keep(binder_->Finish()));
  PERUSE_RETURN_IF_ERROR(Keep(encoder_->Fold(backend_)));
  report_.precision = precision_;
  report_.tensors_used = binder_->tensors_used();
  report_.extra_tensors = binder_->extra_tensors();
  report_.head_tensors = binder_->HeadTensors();
  report_.weight_bytes = backend_.WeightBytes() - bytes_before_ + embeddings_.bytes();
  parser_.reset();
  binder_.reset();
  return OkStatus();
}

// ---- Running --------------------------------------------------------------------------------------------------------

Status CheckpointModel::CheckInput(const ModelInput& input, size_t index) const {
  const std::string text = "text " + std::to_string(index);
  if (input.ids.empty()) return Status(StatusCode::kEmptyText, text + " has no tokens");
  if (input.ids.size() > static_cast<size_t>(config_.max_tokens)) {
    return Status(StatusCode::kTextTooLong, text + " has " + std::to_string(input.ids.size()) +
                                                " tokens; the model takes " + std::to_string(config_.max_tokens));
  }
  for (const int32_t id : input.ids) {
    if (id < 0 || id >= config_.vocab_size) {
      return InvalidArgument(text + " has the token id " + std::to_string(id) + "; the model's vocabulary has " +
                             std::to_string(config_.vocab_size));
    }
  }
  if (!input.type_ids.empty() && input.type_ids.size() != input.ids.size()) {
    return InvalidArgument(text + " has " + std::to_string(input.ids.size()) + " token ids and " +
                           std::to_string(input.type_ids.size()) + " type ids");
  }
  if (config_.type_vocab_size == 0) return OkStatus();  // accepted and ignored, as by the reference
  for (const int32_t type : input.type_ids) {
    if (type < 0 || type >= config_.type_vocab_size) {
      return InvalidArgument(text + " has the type id " + std::to_string(type) + "; the model has " +
                             std::to_string(config_.type_vocab_size) + " types");
    }
  }
  return OkStatus();
}

Status CheckpointModel::CheckLogitRows(const RunOptions& options, int64_t rows) const {
  if (!options.logit_rows.empty() && options_.head != Head::kMaskedLm) {
    return InvalidArgument("logit_rows are for masked language modelling, not for " +
                           std::string(HeadName(options_.head)));
  }
  for (const int32_t row : options.logit_rows) {
    if (row < 0 || row >= rows) {
      return InvalidArgument("logit row " + std::to_string(row) + " is none of the batch's " + std::to_string(rows));
    }
  }
  return OkStatus();
}

Status CheckpointModel::CheckSize(const RaggedBatch& batch, const RunOptions& options) const {
  const int64_t widest = std::max(4 * config_.hidden_size, config_.intermediate_size);
  const int64_t logit_rows =
      options.logit_rows.empty() ? batch.rows() : static_cast<int64_t>(options.logit_rows.size());
  int64_t elements = std::max(batch.rows() * widest, logit_rows * logit_cols());
  if (options.attentions) {
    elements = std::max(elements, int64_t{batch.rows()} * encoder_->attention_heads() * batch.longest());
  }
  if (elements <= kMaxElements) return OkStatus();
  return OutOfMemory("a batch of " + std::to_string(batch.rows()) + " tokens is too large for this model");
}

Status CheckpointModel::Begin(std::span<const ModelInput> inputs, const RunOptions& options) {
  PERUSE_RETURN_IF_ERROR(failure_);
  if (parser_) return InvalidArgument("the weights are not loaded yet");
  if (inputs.empty()) return InvalidArgument("there are no texts");
  int64_t tokens = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    PERUSE_RETURN_IF_ERROR(CheckInput(inputs[i], i));
    tokens += static_cast<int64_t>(inputs[i].ids.size());
  }
  if (tokens > kMaxElements) return OutOfMemory("a batch of " + std::to_string(tokens) + " tokens is too large");
  next_batch_.Clear();
  for (const ModelInput& input : inputs) next_batch_.Append(static_cast<int32_t>(input.ids.size()));
  PERUSE_RETURN_IF_ERROR(CheckLogitRows(options, tokens));
  PERUSE_RETURN_IF_ERROR(CheckSize(next_batch_, options));

  batch_ = next_batch_;  // a copy: both keep their memory
  inspection_.Begin(options);
  return Run(inputs, options);
}

void CheckpointModel::FindRowsRead(const RunOptions& options) {
  rows_read_.clear();
  if (!head_) return;
  if (options.logit_rows.empty()) return head_->RowsRead(batch_, &rows_read_);
  rows_read_.assign(options.logit_rows.begin(), options.logit_rows.end());
}

Status CheckpointModel::Run(std::span<const ModelInput> inputs, const RunOptions& options) {
  const int32_t rows = batch_.rows();
  backend_.BeginRun();
  Scope scope(backend_);
  const Tensor embedded = backend_.New(rows, config_.hidden_size);
  PERUSE_RETURN_IF_ERROR(embeddings_.Forward(backend_, inputs, batch_, embedded));
  inspection_.HiddenState(backend_, embedded);

  FindRowsRead(options);
  // Who wants the hidden states wants all rows of them.
  const std::span<const int32_t> kept = options.hidden_states ? std::span<const int32_t>() : std::span(rows_read_);
  Tensor result = backend_.New(kept.empty() ? rows : static_cast<int32_t>(kept.size()), config_.hidden_size);
  encoder_->Forward(backend_, embedded, batch_, inspection_, kept, result);
  if (head_) {
    if (kept.empty()) result = KeepRows(backend_, result, rows_read_);
    const Tensor logits = backend_.New(result.rows, head_->logit_cols());
    head_->Forward(backend_, result, batch_, logits);
    result = logits;
  }
  PERUSE_RETURN_IF_ERROR(inspection_.status());
  PERUSE_RETURN_IF_ERROR(output_.Resize(static_cast<size_t>(result.rows) * static_cast<size_t>(result.cols)));
  output_rows_ = result.rows;
  backend_.Download(result, output_.values());
  return OkStatus();
}

}  // namespace

Result<std::unique_ptr<Model>> Model::Create(std::string_view config_json, const ModelOptions& options,
                                             Backend& backend) {
  PERUSE_ASSIGN_OR_RETURN(ModelConfig config, ParseModelConfig(config_json));
  if (options.enhanced_mask_decoder) config.max_tokens = std::min(config.max_tokens, config.max_position_embeddings);
  auto model = std::make_unique<CheckpointModel>(std::move(config), options, backend);
  PERUSE_RETURN_IF_ERROR(model->Initialize());
  return std::unique_ptr<Model>(std::move(model));
}

}  // namespace peruse

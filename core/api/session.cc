#include "core/api/session.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "core/api/module_list.h"
#include "core/api/multi_vector_reader.h"
#include "core/api/option_reader.h"
#include "core/api/ranking_reader.h"
#include "core/api/sentence_modules_reader.h"
#include "core/base/json_writer.h"
#include "core/base/memory.h"

namespace peruse {
namespace {

constexpr std::string_view kLabelsTokenizer = "labels_tokenizer/";
constexpr std::string_view kAdapterModelConfig = "adapter/config.json";
// Upper bound of the copies that a task makes of a text, in addition to its tokens.
constexpr size_t kRequestCopies = 4;
// Limits a request. WebAssembly memory never shrinks, and a text's tokens take about 24 times its size, so this keeps it below a gigabyte.
constexpr size_t kMaxRequest = size_t{32} << 20;

Result<std::optional<Precision>> ParsePrecision(std::string_view name) {
  if (name == "auto") return std::optional<Precision>();
  if (const Precision* precision = FindPrecision(name)) return std::optional(*precision);
  return InvalidArgument("dtype must be \"auto\", " + PrecisionNames() + ", not \"" + std::string(name) + "\"");
}

std::string ReportJson(const ModelConfig& config, const LoadReport& report) {
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  writer.Key("architecture");
  writer.String(config.architecture_class.empty() ? config.model_type : config.architecture_class);
  writer.Key("dtype");
  writer.String(FormatOf(report.precision).dtype());
  writer.Key("tensors");
  writer.Int(report.tensors_used);
  writer.Key("headTensors");
  writer.Strings(report.head_tensors);
  writer.Key("extraTensors");
  writer.Strings(report.extra_tensors);
  writer.Key("notices");
  writer.Strings(report.notices);
  writer.Key("weightBytes");
  writer.Int(report.weight_bytes);
  writer.EndObject();
  return json;
}

// FNV-1a, 64 bits: detects different files, but not deliberate collisions.
uint64_t Hash(std::string_view bytes, uint64_t hash = 0xcbf29ce484222325u) {
  for (const char byte : bytes) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3u;
  return hash;
}

// Extends an error about a missing head by the task that the checkpoint was trained for.
Status WithTask(Status status, std::string_view architecture, std::string_view asked) {
  const std::string_view task = TaskOfClass(architecture);
  const std::string name(architecture);
  const std::string hint = ": use " + std::string(task);
  const bool says_what_it_is = status.message().ends_with("it is a " + name);
  const bool has_hint = status.message().ends_with(hint);
  if (status.code() != StatusCode::kMissingHead && !says_what_it_is) return status;
  if (has_hint || task.empty() || task == asked) return status;
  return Status(status.code(), status.message() + (says_what_it_is ? "" : ". It is a " + name) + hint);
}

// Replaces the modules after the encoder by the layer in `file`.
void SetTokenLayer(const std::string& file, bool is_sparse, SentenceModules* modules) {
  modules->pooling.resize(1);
  modules->steps = {{.kind = SentenceStep::Kind::kDense, .folder = file, .activation = Activation::kNone}};
  if (is_sparse) {
    modules->steps[0].out = 1;
    modules->steps[0].activation = Activation::kRelu;
    modules->weighs_tokens = true;
  } else {
    modules->steps.push_back({});  // normalises each row
    modules->multi_vector = MultiVector{.omitted_rows = 1};
    modules->similarity = "maxsim";
  }
}

bool IsOfTask(std::string_view name) {
  return name.find('/') != std::string_view::npos || name == "modules.json" || name == "adapter_config.json" ||
         name == kPairTemplateFile || name == "router_config.json" || name == "artifact.metadata" ||
         name.starts_with("sentence_") || name.starts_with("config_sentence_") || name.ends_with("_linear.pt");
}

}  // namespace

Status Session::Fail(Status status) {
  status = FileStages::Fail(std::move(status));
  if (status.ok() || !loader_) return status;
  return WithTask(std::move(status), loader_->config().architecture_class, task_);
}

Status Session::Open(std::string_view request) {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kFiles, "open"));
  PERUSE_RETURN_IF_ERROR(Fail(CreateParts(request)));
  files_.clear();
  stage_ = Stage::kWeights;
  return OkStatus();
}

Status Session::CreateParts(std::string_view request) {
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(request, "the load request"));
  OptionReader reader(document.root());
  std::string dtype = "auto";
  ModelOptions options;
  reader.ReadText("task", &task_);
  reader.Read("dtype", &dtype);
  reader.Read("enhanced_mask_decoder", &options.enhanced_mask_decoder);
  std::string pooling;
  reader.Read("pooling", &pooling);
  reader.Read("id2label", &options.id2label);
  std::string lora_task;
  reader.Read("lora_task", &lora_task);
  PERUSE_RETURN_IF_ERROR(reader.status());
  PERUSE_ASSIGN_OR_RETURN(const TaskNeeds needs, NeedsOfTask(task_));
  options.head = needs.head;
  PERUSE_ASSIGN_OR_RETURN(options.precision, ParsePrecision(dtype));
  options.usual_precision = usual_;

  Result<std::shared_ptr<const text::Tokenizer>> tokenizer = CreateTokenizer();
  const auto config = files_.find("config.json");
  if (config == files_.end()) return Status(StatusCode::kNotFound, "the model has no config.json");
  PERUSE_ASSIGN_OR_RETURN(std::string config_json, WithAdapterLabels(config->second));
  if (tokenizer.ok()) options.tokenizer = tokenizer->get();
  const std::shared_ptr<const LoadedModel> first = std::move(model_);
  const uint64_t first_hash = std::exchange(config_hash_, Hash(config_json));
  if (first != nullptr && first_hash != config_hash_) {
    return InvalidArgument("config.json is not that of the session beside");
  }
  if (!lora_task.empty()) {  // after the comparison: sessions for several tasks share the weights
    PERUSE_RETURN_IF_ERROR(JsonDocument::Parse(config_json, "config.json").status());
    std::string quoted;
    JsonWriter(&quoted).String(lora_task);
    config_json = WithMembers(config_json, {{"lora_task", quoted}});
  }
  if (needs.sentence != SentenceUse::kNone && !files_.contains("adapter_config.json") && AppliesAdapters(ReadFiles())) {
    config_json = WithMembers(config_json, {{"applies_adapters", "true"}});
  }
  options.beside = first.get();
  std::optional<SentenceModules> modules;
  if (needs.sentence == SentenceUse::kClassifier || needs.sentence == SentenceUse::kVectors) {
    PERUSE_ASSIGN_OR_RETURN(modules, ReadModules());
  }
  const bool classifies_sentences = needs.sentence == SentenceUse::kClassifier && modules && modules->classifies;
  if (classifies_sentences) options.head = Head::kNone;
  if (!modules && needs.sentence == SentenceUse::kVectors && IsStanfordColbert(config_json)) {
    PERUSE_ASSIGN_OR_RETURN(modules, ReadStanfordModules(ReadFiles()));
  }
  if (!pooling.empty()) PERUSE_RETURN_IF_ERROR(SetPooling(pooling, &modules));
  if (modules && modules->multi_vector && modules->multi_vector->projection > 0) {
    options.head = Head::kTokenVectors;
    options.token_vector = modules->multi_vector->projection;
  }
  if (modules && modules->sparse && needs.sentence == SentenceUse::kVectors) {
    options.head = Head::kVocabulary;
    options.sparse_pooling = *modules->sparse;
  }
  options.has_modules = modules.has_value();
  if (needs.sentence == SentenceUse::kRankingSettings) {
    PERUSE_RETURN_IF_ERROR(ReadRanking(config_json, options.tokenizer, &options));
  }
  Result<std::unique_ptr<ModelLoader>> loader = ModelLoader::Create(config_json, options, *backend_);
  if (!loader.ok()) {
    PERUSE_ASSIGN_OR_RETURN(const JsonDocument json, JsonDocument::Parse(config_json, "config.json"));
    return WithTask(loader.status(), json.root().FindMember("architectures")[0].GetString().value_or(""), task_);
  }
  loader_ = std::move(*loader);

  const ModelConfig& model = loader_->config();
  PERUSE_RETURN_IF_ERROR(CheckTask(task_, model));
  if (const auto adapter = files_.find("adapter_config.json"); adapter != files_.end()) {
    adapter_ = std::make_unique<LoraAdapter>();
    PERUSE_RETURN_IF_ERROR(adapter_->ReadConfig(adapter->second));
    adapter_base_ = config_json;
    model_options_ = options;
    model_options_.beside = nullptr;
  }
  PERUSE_ASSIGN_OR_RETURN(tokenizer_, std::move(tokenizer));
  if (!adapter_) PERUSE_RETURN_IF_ERROR(CheckVocabulary());  // an adapter may add token embeddings
  if (model.label_encoder) PERUSE_RETURN_IF_ERROR(ReadLabelsTokenizer());
  if (needs.sentence == SentenceUse::kVectors) {
    return CreateSentence(std::move(modules).value_or(SentenceModules()));
  }
  if (ranking_.modules.scores) modules = ranking_.modules;
  if (!classifies_sentences && !ranking_.modules.scores) return OkStatus();
  PERUSE_RETURN_IF_ERROR(CreateSentence(*std::move(modules)));
  return CheckLabels();
}

// Whether the modules' last layer gives a logit for each label.
Status Session::CheckLabels() const {
  const ModelConfig& model = loader_->config();
  if (sentence_->width() == model.id2label.size()) return OkStatus();
  return Status(StatusCode::kShapeMismatch, "the classifier of modules.json gives " +
                                                std::to_string(sentence_->width()) + " logits and config.json names " +
                                                std::to_string(model.id2label.size()) + " labels");
}

Status Session::CheckVocabulary() const {
  const ModelConfig& model = loader_->config();
  const int32_t unused = model.label_encoder ? model.label_encoder->unused_tokens : 0;
  if (tokenizer_->model_vocab_size() - unused <= model.vocab_size) return OkStatus();
  return Status(StatusCode::kShapeMismatch,
                "the tokenizer gives ids up to " + std::to_string(tokenizer_->model_vocab_size() - 1) +
                    " and the model has embeddings for " + std::to_string(model.vocab_size) + " tokens only");
}

// Applies the load option `pooling`, for folders that do not say that they give sparse vectors or matrices: those of BGE M3 have a layer on
// each token's vector for it, others are masked language models.
Status Session::SetPooling(std::string_view pooling, std::optional<SentenceModules>* modules) const {
  const bool is_sparse = pooling == "splade";
  if (!is_sparse && pooling != "multi_vector") {
    return InvalidArgument("the load option pooling must be \"splade\" or \"multi_vector\"");
  }
  if (task_ != "feature-extraction") return InvalidArgument("the load option pooling is for feature-extraction");
  if (*modules && (is_sparse ? (*modules)->gives_sparse() : (*modules)->multi_vector.has_value())) {
    return OkStatus();
  }
  const std::string file = is_sparse ? "sparse_linear.pt" : "colbert_linear.pt";
  if (files_.contains(file)) {
    if (!*modules) modules->emplace();
    SetTokenLayer(file, is_sparse, &**modules);
    return OkStatus();
  }
  if (*modules || !is_sparse) {
    return InvalidArgument("the load option pooling is \"" + std::string(pooling) +
                           "\": modules.json names no such pooling, and there is no " + file);
  }
  *modules = SentenceModules{.sparse = SparsePooling()};
  return OkStatus();
}

// Returns config.json with the labels of the adapter: its folder contains a config.json if it was trained for other labels.
Result<std::string> Session::WithAdapterLabels(const std::string& config_json) const {
  const auto own = files_.find(kAdapterModelConfig);
  if (own == files_.end()) return config_json;
  PERUSE_RETURN_IF_ERROR(JsonDocument::Parse(config_json, "config.json").status());
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument adapter, JsonDocument::Parse(own->second, "the adapter's config.json"));
  const JsonValue labels = adapter.root().FindMember("id2label");
  if (!labels.IsObject() || labels.size() == 0) return config_json;
  JsonMembers members = {{"num_labels", ""}};
  for (const char* name : {"id2label", "label2id", "problem_type"}) {
    const JsonValue value = adapter.root().FindMember(name);
    members.emplace_back(name, value.exists() && !value.IsNull() ? value.ToString() : "");
  }
  return WithMembers(config_json, members);
}

Result<TokenizerSession> Session::Tokenize() const {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kReady, "tokenizer"));
  int64_t limit = model_->config.max_tokens;
  const int64_t own_limit = tokenizer_->model_max_length().value_or(0);
  if (own_limit > 0) limit = std::min(limit, own_limit);
  // A model without a position table does not limit the length.
  return TokenizerSession(tokenizer_, limit == std::numeric_limits<int32_t>::max() ? 0 : static_cast<int32_t>(limit));
}

Status Session::ReadLabelsTokenizer() {
  text::TokenizerFiles files;
  for (const auto& [name, bytes] : files_) {
    if (name.starts_with(kLabelsTokenizer)) files.emplace(name.substr(kLabelsTokenizer.size()), bytes);
  }
  if (files.empty()) {
    return Status(StatusCode::kNotFound,
                  "the model reads labels by an encoder of their own, and that one's tokenizer was not given");
  }
  PERUSE_ASSIGN_OR_RETURN(labels_tokenizer_, text::Tokenizer::Create(files));
  if (labels_tokenizer_->model_vocab_size() <= loader_->config().label_encoder->vocab_size) return OkStatus();
  return Status(StatusCode::kShapeMismatch,
                "the labels' tokenizer gives more ids than the labels' encoder has embeddings for");
}

Result<std::shared_ptr<const text::Tokenizer>> Session::CreateTokenizer() {
  text::TokenizerFiles files;
  uint64_t hash = Hash({});
  for (const auto& [name, bytes] : files_) {
    if (IsOfTask(name)) continue;
    files.emplace(name, bytes);
    hash = Hash(bytes, Hash(name, hash));
  }
  if (tokenizer_ != nullptr && hash == tokenizer_hash_) return tokenizer_;
  tokenizer_hash_ = hash;
  PERUSE_ASSIGN_OR_RETURN(std::unique_ptr<text::Tokenizer> made, text::Tokenizer::Create(files));
  return std::shared_ptr<const text::Tokenizer>(std::move(made));
}

ReadModelFile Session::ReadFiles() const {
  return [this](const std::string& path) -> std::optional<std::string_view> {
    const auto file = files_.find(path);
    return file == files_.end() ? std::nullopt : std::optional<std::string_view>(file->second);
  };
}

Result<std::optional<SentenceModules>> Session::ReadModules() const { return ReadSentenceModules(ReadFiles()); }

Status Session::CreateSentence(SentenceModules modules) {
  const ModelConfig& config = loader_->config();
  const int32_t width = config.token_vector > 0 ? config.token_vector : config.hidden_size;
  PERUSE_ASSIGN_OR_RETURN(sentence_, SentenceEmbedder::Create(std::move(modules), ReadFiles(), width));
  return OkStatus();
}

Status Session::ReadRanking(const std::string& config_json, const text::Tokenizer* tokenizer, ModelOptions* options) {
  PERUSE_ASSIGN_OR_RETURN(ranking_, ReadRankingFiles(ReadFiles(), config_json, tokenizer));
  const SentenceModules& modules = ranking_.modules;
  if (modules.logit_score) {
    options->head = Head::kLogitScore;
    options->score_tokens = modules.logit_score->tokens();
    options->has_modules = true;  // the folder says how its language model scores
  }
  if (modules.scores) {
    options->head = Head::kNone;
    options->has_modules = true;
  }
  const bool one_score = modules.logit_score || (modules.scores && modules.steps.back().out == 1);
  if (one_score && options->id2label.empty()) options->id2label = {"score"};
  return OkStatus();
}

Status Session::FeedAdapter(std::span<const uint8_t> chunk) {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kWeights, "feedAdapter"));
  if (!adapter_) return InvalidArgument("feedAdapter was called without an adapter");
  return Fail(adapter_->Feed(chunk));
}

Status Session::FinishAdapter() {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kWeights, "finishAdapter"));
  if (!adapter_) return InvalidArgument("finishAdapter was called without an adapter");
  PERUSE_RETURN_IF_ERROR(Fail(adapter_->Finish()));
  PERUSE_RETURN_IF_ERROR(Fail(FitToAdapter()));
  adapter_base_.clear();
  return Fail(loader_->SetAdapter(std::move(adapter_)));
}

Status Session::FitToAdapter() {
  const std::optional<int32_t> labels = loader_->LabelsOf(*adapter_);
  if (labels && !model_options_.id2label.empty()) {
    return InvalidArgument("Option id2label names " + std::to_string(model_options_.id2label.size()) +
                           " labels, and the adapter's classifier has " + std::to_string(*labels) + ".");
  }
  for (int32_t i = 0; i < labels.value_or(0); ++i) model_options_.id2label.push_back("LABEL_" + std::to_string(i));
  model_options_.vocab_size = loader_->TokensOf(*adapter_);
  if (labels || model_options_.vocab_size) {
    loader_.reset();
    PERUSE_ASSIGN_OR_RETURN(loader_, ModelLoader::Create(adapter_base_, model_options_, *backend_));
  }
  return CheckVocabulary();
}

Status Session::ExpectWeights(std::string_view call) const {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kWeights, call));
  return adapter_ ? InvalidArgument(std::string(call) + " was called before the adapter was whole") : OkStatus();
}

Result<std::string> Session::SetShardIndex(std::string_view index_json) {
  PERUSE_RETURN_IF_ERROR(ExpectWeights("setShardIndex"));
  const Result<std::vector<std::string>> files = loader_->SetShardIndex(index_json);
  PERUSE_RETURN_IF_ERROR(Fail(files.status()));
  return ShardsJson(*files);
}

Status Session::EndShard() {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kWeights, "endShard"));
  return Fail(loader_->EndShard());
}

Result<int32_t> Session::Probe(int32_t layers, std::string_view dtype) {
  if (stage_ != Stage::kProbing) PERUSE_RETURN_IF_ERROR(Expect(Stage::kFiles, "probe"));
  if (!probe_) {
    const auto config = files_.find("config.json");
    if (config == files_.end()) return Status(StatusCode::kNotFound, "the model has no config.json");
    PERUSE_ASSIGN_OR_RETURN(const std::optional<Precision> precision, ParsePrecision(dtype));
    PERUSE_ASSIGN_OR_RETURN(probe_, SpeedProbe::Create(config->second, precision, usual_, *backend_));
    stage_ = Stage::kProbing;
  }
  PERUSE_RETURN_IF_ERROR(probe_->Run(layers == 0 ? probe_->model_layers() : layers));
  return probe_->model_layers();
}

Status Session::FeedWeights(std::span<const uint8_t> chunk) {
  PERUSE_RETURN_IF_ERROR(ExpectWeights("feedWeights"));
  return Fail(loader_->Feed(chunk));
}

Result<std::string> Session::FinishWeights() {
  PERUSE_RETURN_IF_ERROR(ExpectWeights("finishWeights"));
  Result<std::shared_ptr<const LoadedModel>> model = loader_->Finish();
  PERUSE_RETURN_IF_ERROR(Fail(model.status()));
  model_ = std::move(*model);
  runner_ = CreateRunner(model_);
  loader_.reset();
  stage_ = Stage::kReady;
  return ReportJson(model_->config, model_->report);
}

const Program* Session::program() const {
  if (runner_) return &model_->plan.program;
  return loader_ ? &loader_->program() : nullptr;
}

Status Session::Start(std::string_view request) {
  return StartRun("start", request, [this](JsonValue json) { return CreateRun(task_, context(), json); });
}

Status Session::StartInspection(std::string_view request) {
  return StartRun("startInspection", request, [this](JsonValue json) { return CreateInspection(context(), json); });
}

template <typename Create>
Status Session::StartRun(std::string_view call, std::string_view request, Create create) {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kReady, call));
  EndRun();
  if (request.size() > kMaxRequest) {
    return Status(StatusCode::kTextTooLong, "the texts of the call have " + std::to_string(request.size() >> 20) +
                                                " MB together, and Peruse takes 32 MB at a time: split them");
  }
  {
    PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(request, "the request"));
    PERUSE_RETURN_IF_ERROR(EnsureMemory(SaturatingMultiply(kRequestCopies, request.size()), "the request"));
    PERUSE_ASSIGN_OR_RETURN(run_, create(document.root()));
  }  // end of the document's lifetime: it is freed before the text is tokenized
  return run_->task().Start();
}

void Session::EndRun() {
  if (run_) tokens_read_ += run_->task().tokens_read();
  run_.reset();
}

void Session::Select(uint32_t request) {
  if (request == selected_) return;
  if (run_) paused_[selected_] = std::move(run_);
  selected_ = request;
  const auto paused = paused_.find(request);
  if (paused == paused_.end()) return;
  run_ = std::move(paused->second);
  paused_.erase(paused);
}

int64_t Session::tokens_read() const {
  int64_t tokens = tokens_read_ + (run_ ? run_->task().tokens_read() : 0);
  for (const auto& [request, run] : paused_) tokens += run->task().tokens_read();
  return tokens;
}

Result<Task*> Session::Running(std::string_view call) {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kReady, call));
  if (!run_) return InvalidArgument(std::string(call) + " was called before a request was started");
  return &run_->task();
}

Result<bool> Session::Step() {
  PERUSE_ASSIGN_OR_RETURN(Task * task, Running("step"));
  return task->Step();
}

Result<bool> Session::BeginStep() {
  PERUSE_ASSIGN_OR_RETURN(Task * task, Running("beginStep"));
  return task->BeginStep();
}

Result<bool> Session::EndStep() {
  PERUSE_ASSIGN_OR_RETURN(Task * task, Running("endStep"));
  return task->EndStep();
}

Result<std::string> Session::Take() {
  PERUSE_RETURN_IF_ERROR(Running("take").status());
  Result<std::string> parts = run_->Take();
  // Frees texts, which may be large, unless the host still has to read arrays.
  if (run_->task().done() && !run_->has_arrays()) EndRun();
  return parts;
}

}  // namespace peruse

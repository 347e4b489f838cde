#include "core/tasks/session.h"

#include <optional>
#include <utility>

#include "core/base/memory.h"
#include "core/tasks/options.h"

namespace peruse {
namespace {

// How often a task may keep a text, or part of it, beside its tokens.
constexpr size_t kRequestCopies = 4;

constexpr std::pair<std::string_view, Precision> kPrecisions[] = {
    {"f32", Precision::kF32}, {"f16", Precision::kF16}, {"q8", Precision::kQ8}};

// Nothing for "auto".
Result<std::optional<Precision>> ParsePrecision(std::string_view name) {
  if (name == "auto") return std::optional<Precision>();
  for (const auto& [known, precision] : kPrecisions) {
    if (name == known) return std::optional(precision);
  }
  return InvalidArgument("dtype must be \"auto\", \"f32\", \"f16\" or \"q8\", not \"" + std::string(name) + "\"");
}

void WriteNames(JsonWriter& writer, std::string_view key, const std::vector<std::string>& names) {
  writer.Key(key);
  writer.BeginArray();
  for (const std::string& name : names) writer.String(name);
  writer.EndArray();
}

std::string ReportJson(const ModelConfig& config, const LoadReport& report) {
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  writer.Key("architecture");
  writer.String(config.architecture_class.empty() ? config.model_type : config.architecture_class);
  writer.Key("dtype");
  for (const auto& [name, precision] : kPrecisions) {
    if (precision == report.precision) writer.String(name);
  }
  writer.Key("tensors");
  writer.Int(report.tensors_used);
  WriteNames(writer, "headTensors", report.head_tensors);
  WriteNames(writer, "extraTensors", report.extra_tensors);
  writer.Key("weightBytes");
  writer.Int(report.weight_bytes);
  writer.EndObject();
  return json;
}

}  // namespace

Status Session::Expect(Stage stage, std::string_view call) const {
  if (stage_ == stage) return OkStatus();
  if (stage_ == Stage::kFailed) {
    return InvalidArgument(std::string(call) + " was called on a session whose loading failed");
  }
  return InvalidArgument(std::string(call) + " was called out of order");
}

Status Session::Fail(Status status) {
  if (!status.ok()) stage_ = Stage::kFailed;
  return status;
}

Status Session::AddFile(std::string_view name, std::string_view bytes) {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kFiles, "addFile"));
  PERUSE_RETURN_IF_ERROR(EnsureMemory(bytes.size(), name));
  files_[std::string(name)] = std::string(bytes);
  return OkStatus();
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
  PERUSE_ASSIGN_OR_RETURN(const std::string_view task, ReadText(document.root(), "task"));
  std::string dtype = "auto";
  PERUSE_RETURN_IF_ERROR(ReadOption(document.root(), "dtype", &dtype));
  ModelOptions options;
  PERUSE_ASSIGN_OR_RETURN(options.head, HeadOfTask(task));
  PERUSE_ASSIGN_OR_RETURN(options.precision, ParsePrecision(dtype));
  options.usual_precision = usual_;
  PERUSE_RETURN_IF_ERROR(ReadOption(document.root(), "enhanced_mask_decoder", &options.enhanced_mask_decoder));

  const auto config = files_.find("config.json");
  if (config == files_.end()) return Status(StatusCode::kNotFound, "the model has no config.json");
  PERUSE_ASSIGN_OR_RETURN(model_, Model::Create(config->second, options, *backend_));

  TokenizerFiles tokenizer_files;
  for (const auto& [name, bytes] : files_) tokenizer_files.emplace(name, bytes);
  PERUSE_ASSIGN_OR_RETURN(tokenizer_, Tokenizer::Create(tokenizer_files));
  if (tokenizer_->vocab_size() > model_->config().vocab_size) {
    return Status(StatusCode::kShapeMismatch, "the tokenizer gives ids up to " +
                                                  std::to_string(tokenizer_->vocab_size() - 1) +
                                                  " and the model has embeddings for " +
                                                  std::to_string(model_->config().vocab_size) + " tokens only");
  }
  PERUSE_ASSIGN_OR_RETURN(task_, CreateTask(task, *tokenizer_, *model_));
  inspector_ = std::make_unique<Inspector>(*tokenizer_, *model_);
  running_ = task_.get();
  return OkStatus();
}

Result<std::string> Session::SetShardIndex(std::string_view index_json) {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kWeights, "setShardIndex"));
  const Result<std::vector<std::string>> files = model_->SetShardIndex(index_json);
  PERUSE_RETURN_IF_ERROR(Fail(files.status()));
  std::string json;
  JsonWriter writer(&json);
  writer.BeginArray();
  for (const std::string& file : *files) writer.String(file);
  writer.EndArray();
  return json;
}

Status Session::EndShard() {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kWeights, "endShard"));
  return Fail(model_->EndShard());
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
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kWeights, "feedWeights"));
  return Fail(model_->FeedWeights(chunk));
}

Result<std::string> Session::FinishWeights() {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kWeights, "finishWeights"));
  PERUSE_RETURN_IF_ERROR(Fail(model_->FinishWeights()));
  stage_ = Stage::kReady;
  return ReportJson(model_->config(), model_->load_report());
}

Status Session::Start(std::string_view request) { return StartTask(task_.get(), "start", request); }

Status Session::StartInspection(std::string_view request) {
  return StartTask(inspector_.get(), "startInspection", request);
}

Status Session::StartTask(Task* task, std::string_view call, std::string_view request) {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kReady, call));
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(request, "the request"));
  PERUSE_RETURN_IF_ERROR(EnsureMemory(SaturatingMultiply(kRequestCopies, request.size()), "the request"));
  running_ = task;
  return task->Start(document.root());
}

std::span<const float> Session::InspectedArray(size_t index) const {
  return stage_ == Stage::kReady && running_ == inspector_.get() ? inspector_->array(index) : std::span<const float>();
}

Result<bool> Session::Step() {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kReady, "step"));
  return running_->Step();
}

Result<bool> Session::BeginStep() {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kReady, "beginStep"));
  return running_->BeginStep();
}

Result<bool> Session::EndStep() {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kReady, "endStep"));
  return running_->EndStep();
}

Result<std::string> Session::Finish() {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kReady, "finish"));
  return running_->Finish();
}

}  // namespace peruse

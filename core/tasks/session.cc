#include "core/tasks/session.h"

#include <utility>

#include "core/tasks/options.h"

namespace peruse {
namespace {

Result<Precision> ParsePrecision(std::string_view name) {
  if (name == "f32") return Precision::kF32;
  if (name == "f16") return Precision::kF16;
  if (name == "q8") return Precision::kQ8;
  return InvalidArgument("dtype must be \"f32\", \"f16\" or \"q8\", not \"" + std::string(name) + "\"");
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

Status Session::AddFile(std::string name, std::string bytes) {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kFiles, "addFile"));
  files_[std::move(name)] = std::move(bytes);
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
  std::string dtype = "f32";
  PERUSE_RETURN_IF_ERROR(ReadOption(document.root(), "dtype", &dtype));
  ModelOptions options;
  PERUSE_ASSIGN_OR_RETURN(options.head, HeadOfTask(task));
  PERUSE_ASSIGN_OR_RETURN(options.precision, ParsePrecision(dtype));

  const auto config = files_.find("config.json");
  if (config == files_.end()) return Status(StatusCode::kNotFound, "the model has no config.json");
  PERUSE_ASSIGN_OR_RETURN(model_, Model::Create(config->second, options, *backend_));

  TokenizerFiles tokenizer_files;
  for (const auto& [name, bytes] : files_) tokenizer_files.emplace(name, bytes);
  PERUSE_ASSIGN_OR_RETURN(tokenizer_, Tokenizer::Create(tokenizer_files));
  PERUSE_ASSIGN_OR_RETURN(task_, CreateTask(task, *tokenizer_, *model_));
  return OkStatus();
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

Status Session::Start(std::string_view request) {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kReady, "start"));
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(request, "the request"));
  return task_->Start(document.root());
}

Result<bool> Session::Step() {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kReady, "step"));
  return task_->Step();
}

Result<bool> Session::BeginStep() {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kReady, "beginStep"));
  return task_->BeginStep();
}

Result<bool> Session::EndStep() {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kReady, "endStep"));
  return task_->EndStep();
}

Result<std::string> Session::Finish() {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kReady, "finish"));
  return task_->Finish();
}

}  // namespace peruse

#include "core/train/teach_session.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/json_writer.h"
#include "core/base/memory.h"
#include "core/train/config_json.h"

namespace peruse::train {
namespace {

constexpr std::string_view kGenerator = "generator/";  // before the names of its files

const char* MethodName(Method method) {
  constexpr const char* kNames[] = {"head", "layers", "lora", "full"};
  return kNames[static_cast<size_t>(method)];
}

void WriteNumber(JsonWriter& writer, const char* name, double value) {
  if (std::isnan(value)) return;
  writer.Key(name);
  writer.Double(value);
}
void WriteCount(JsonWriter& writer, const char* name, int64_t value) {
  writer.Key(name);
  writer.Int(value);
}

void Write(JsonWriter& writer, const Metrics& metrics) {
  writer.BeginObject();
  WriteNumber(writer, "loss", metrics.loss);
  WriteCount(writer, "examples", metrics.examples);
  WriteNumber(writer, "accuracy", metrics.accuracy);
  WriteNumber(writer, "f1", metrics.f1);
  WriteNumber(writer, "mean_squared_error", metrics.error);
  if (!metrics.confusion.empty()) {
    const auto labels = static_cast<size_t>(std::lround(std::sqrt(static_cast<double>(metrics.confusion.size()))));
    writer.Key("confusion");
    writer.BeginArray();
    for (size_t row = 0; row < labels; ++row) {
      writer.BeginArray();
      for (size_t col = 0; col < labels; ++col) writer.Int(metrics.confusion[row * labels + col]);
      writer.EndArray();
    }
    writer.EndArray();
  }
  writer.EndObject();
}

}  // namespace

Status TeachSession::Expect(Stage stage, std::string_view call) {
  if (stage_ == stage) return HoldReserve();
  if (stage_ == Stage::kFailed) {
    return InvalidArgument(std::string(call) + " was called on a teacher that failed before");
  }
  return InvalidArgument(std::string(call) + " was called out of order");
}

Status TeachSession::Fail(Status status) {
  if (!status.ok()) stage_ = Stage::kFailed;
  return status;
}

// ---- The model ------------------------------------------------------------------------------------------------------

Status TeachSession::AddFile(std::string_view name, std::string_view bytes) {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kFiles, "addFile"));
  PERUSE_RETURN_IF_ERROR(EnsureMemory(bytes.size(), name));
  files_[std::string(name)] = std::string(bytes);
  return OkStatus();
}

Status TeachSession::Open(std::string_view request) {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kFiles, "open"));
  PERUSE_RETURN_IF_ERROR(Fail(OpenParts(request)));
  files_.clear();
  stage_ = Stage::kWeights;
  return OkStatus();
}

Status TeachSession::OpenParts(std::string_view request) {
  PERUSE_ASSIGN_OR_RETURN(request_, ReadTeachRequest(request));
  const auto config = files_.find("config.json");
  if (config == files_.end()) return Status(StatusCode::kNotFound, "the model has no config.json");
  config_json_ = config->second;
  PERUSE_ASSIGN_OR_RETURN(trainee_, Trainee::Create(config_json_, request_.head, request_.labels));
  text::TokenizerFiles tokenizer_files;
  for (const auto& [name, bytes] : files_) {
    if (!name.starts_with(kGenerator)) tokenizer_files.emplace(name, bytes);
  }
  PERUSE_ASSIGN_OR_RETURN(tokenizer_, text::Tokenizer::Create(tokenizer_files));
  const ModelConfig& model = trainee_->config();
  if (tokenizer_->model_vocab_size() > model.vocab_size) {
    return Status(StatusCode::kShapeMismatch,
                  "the tokenizer gives ids up to " + std::to_string(tokenizer_->model_vocab_size() - 1) +
                      " and the model has embeddings for " + std::to_string(model.vocab_size) + " tokens only");
  }
  const std::vector<float>& weights = request_.options.class_weights;
  if (!weights.empty() && weights.size() != model.id2label.size()) {
    return InvalidArgument("option class_weights has " + std::to_string(weights.size()) + " numbers for " +
                           std::to_string(model.id2label.size()) + " labels");
  }
  if (request_.pretrains()) PERUSE_RETURN_IF_ERROR(OpenPretraining());
  const bool one_of_many = !request_.pretrains() && request_.head != Head::kQuestionAnswering &&
                           request_.problem == ProblemType::kSingleLabel;
  if (one_of_many && model.id2label.size() < 2)
    return InvalidArgument("there must be two labels at least to tell apart");
  int64_t limit = model.max_tokens;
  const std::optional<int64_t> tokenizer_limit = tokenizer_->model_max_length();
  if (tokenizer_limit && *tokenizer_limit > 0) limit = std::min(limit, *tokenizer_limit);
  reader_ = std::make_unique<ExampleReader>(*tokenizer_, request_, model.id2label, static_cast<int32_t>(limit));
  return OkStatus();
}

// Recipes as published: BERT's for masked words; ELECTRA's generator has no random words, DeBERTa's masks all that are chosen.
Status TeachSession::OpenPretraining() {
  TeachOptions& options = request_.options;
  options.masking.mask_id = tokenizer_->mask_id();
  options.masking.vocabulary = tokenizer_->model_vocab_size();
  if (options.masking.mask_id < 0) return Unsupported("the tokenizer has no mask token, which pre-training needs");
  if (request_.head == Head::kMaskedLm) return OkStatus();
  const ModelConfig& model = trainee_->config();
  options.disentangled = model.model_type.starts_with("deberta");
  options.masking.masked = options.disentangled ? 1 : 0.85f;
  options.masking.random = 0;
  if (options.detection_weight == 0) options.detection_weight = options.disentangled ? 10 : 50;
  const auto config = files_.find(std::string(kGenerator) + "config.json");
  generator_comes_ = config != files_.end();
  generator_json_ = generator_comes_ ? config->second : GeneratorConfig(config_json_, model);
  Result<std::unique_ptr<Trainee>> generator = Trainee::Create(generator_json_, Head::kMaskedLm, {});
  if (!generator.ok()) return Status(generator.status().code(), "the generator: " + generator.status().message());
  generator_ = std::move(*generator);
  if (generator_->config().vocab_size != model.vocab_size) {
    return Status(StatusCode::kShapeMismatch, "the generator knows " + std::to_string(generator_->config().vocab_size) +
                                                  " tokens and the model " + std::to_string(model.vocab_size));
  }
  return generator_comes_ ? OkStatus() : generator_->BeginFresh();
}

Result<std::string> TeachSession::SetShardIndex(std::string_view index_json) {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kWeights, "setShardIndex"));
  const Result<std::vector<std::string>> files = Fed().SetShardIndex(index_json);
  PERUSE_RETURN_IF_ERROR(Fail(files.status()));
  std::string json;
  JsonWriter(&json).Strings(*files);
  return json;
}

Status TeachSession::EndShard() {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kWeights, "endShard"));
  return Fail(Fed().EndShard());
}

Status TeachSession::FeedWeights(std::span<const uint8_t> chunk) {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kWeights, "feedWeights"));
  return Fail(Fed().FeedWeights(chunk));
}

Result<std::string> TeachSession::FinishWeights() {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kWeights, "finishWeights"));
  Trainee& fed = Fed();
  PERUSE_RETURN_IF_ERROR(Fail(fed.FinishWeights()));
  if (trainee_is_fed_ || !generator_comes_) stage_ = Stage::kExamples;
  trainee_is_fed_ = true;
  std::string json;
  JsonWriter writer(&json);
  int64_t parameters = 0;
  const std::vector<Master>& tensors = fed.masters().tensors();
  for (const Master& master : tensors) parameters += master.size;
  writer.BeginObject();
  WriteCount(writer, "tensors", static_cast<int64_t>(tensors.size()));
  WriteCount(writer, "parameters", parameters);
  writer.Key("fresh");
  writer.BeginArray();
  for (const Master& master : tensors) {
    if (master.fresh) writer.String(master.name);
  }
  writer.EndArray();
  writer.EndObject();
  return json;
}

// ---- Examples -------------------------------------------------------------------------------------------------------

Result<std::string> TeachSession::AddExamples(std::string_view json) {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kExamples, "addExamples"));
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(json, "the examples"));
  const std::optional<std::string_view> set = document.root().FindMember("set").GetString();
  if (set != "training" && set != "validation")
    return InvalidArgument("examples are for \"training\" or \"validation\"");
  const bool training = set == "training";
  std::vector<Example>& examples = training ? training_ : validation_;
  int64_t& read = training ? training_read_ : validation_read_;
  const JsonValue list = document.root().FindMember("examples");
  if (!list.IsArray()) return InvalidArgument("examples must be a list");
  for (JsonValue item : list) {
    if (!HasMemory(size_t{1} << 16)) return OutOfMemory("no memory for more examples");
    const Status status = reader_->Read(item, &examples);
    if (!status.ok()) {
      return Status(status.code(),
                    (training ? "example " : "validation example ") + std::to_string(read) + ": " + status.message());
    }
    ++read;
  }
  return std::to_string(read);
}

// A part of the examples, drawn by the seed.
void TeachSession::SplitValidation() {
  const auto count = static_cast<size_t>(std::lround(request_.validation_split * static_cast<float>(training_.size())));
  if (!validation_.empty() || count == 0 || count >= training_.size()) return;
  const uint64_t seed = request_.options.seed;
  for (size_t i = training_.size(); i > training_.size() - count; --i) {
    const auto words =
        Philox({static_cast<uint32_t>(i), 2, 0, 0}, {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
    std::swap(training_[i - 1], training_[words[0] % i]);
  }
  const auto first = training_.end() - static_cast<std::ptrdiff_t>(count);
  validation_.assign(std::make_move_iterator(first), std::make_move_iterator(training_.end()));
  training_.resize(training_.size() - count);
}

Result<std::string> TeachSession::Begin() {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kExamples, "begin"));
  SplitValidation();
  if (reader_->goal() == Goal::kSingleLabel && !training_.empty()) {
    const auto same = [&](const Example& example) { return example.labels == training_[0].labels; };
    if (std::all_of(training_.begin(), training_.end(), same)) {
      const auto label = static_cast<size_t>(training_[0].labels[0]);
      return InvalidArgument("all examples have the label \"" + trainee_->config().id2label[label] +
                             "\": there is nothing to tell apart");
    }
  }
  request_.FillDefaults(trainee_->config().hidden_size, static_cast<int64_t>(training_.size()));
  teacher_ = std::make_unique<Teacher>(*trainee_, reader_->goal(), request_.options, generator_.get());
  for (Example& example : training_) teacher_->Add(Teacher::kTraining, std::move(example));
  for (Example& example : validation_) teacher_->Add(Teacher::kValidation, std::move(example));
  Result<Teacher::Plan> plan = teacher_->Begin();
  if (!plan.ok()) return Fail(plan.status());
  stage_ = Stage::kTeaching;
  steps_ = plan->steps;
  exporter_ = std::make_unique<Exporter>(
      *trainee_, ExportRequest{config_json_, request_.head, request_.problem, &teacher_->options()});
  if (generator_) {
    generator_exporter_ = std::make_unique<Exporter>(
        *generator_, ExportRequest{generator_json_, Head::kMaskedLm, request_.problem, &teacher_->options()});
  }
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  WriteCount(writer, "steps", plan->steps);
  WriteCount(writer, "epochs", teacher_->options().epochs);
  WriteCount(writer, "examples", plan->examples);
  WriteCount(writer, "validation_examples", plan->validation_examples);
  WriteCount(writer, "trained_parameters", plan->trained);
  WriteCount(writer, "memory_bytes", plan->bytes);
  writer.EndObject();
  return json;
}

// ---- Teaching -------------------------------------------------------------------------------------------------------

Result<std::string> TeachSession::Step() {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kTeaching, "step"));
  Result<Teacher::Progress> progress = teacher_->Advance();
  if (!progress.ok()) return Fail(progress.status());
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  writer.Key("more");
  writer.Bool(progress->more);
  writer.Key("phase");
  writer.String(progress->phase);
  WriteCount(writer, "step", progress->step);
  WriteCount(writer, "steps", steps_);
  WriteCount(writer, "epoch", progress->epoch);
  writer.Key("loss");
  progress->step > 0 ? writer.Double(progress->loss) : writer.Null();
  WriteNumber(writer, "learning_rate", progress->learning_rate);
  if (generator_) WriteNumber(writer, "generator_loss", progress->generator_loss);
  if (progress->validated) {
    writer.Key("validation");
    Write(writer, *teacher_->report().epochs.back().validation);
  }
  writer.EndObject();
  return json;
}

Result<std::string> TeachSession::Report() const {
  if (stage_ != Stage::kTeaching) return InvalidArgument("report was called out of order");
  const Teacher::Report& report = teacher_->report();
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  writer.Key("method");
  writer.String(MethodName(teacher_->options().method));
  WriteNumber(writer, "learning_rate", teacher_->options().adamw.learning_rate);
  WriteCount(writer, "steps", report.steps);
  WriteCount(writer, "tokens", report.tokens);
  writer.Key("best_epoch");
  report.best_epoch > 0 ? writer.Int(report.best_epoch) : writer.Null();
  if (report.l2 > 0) WriteNumber(writer, "l2", report.l2);
  writer.Key("losses");
  writer.BeginArray();
  for (const double loss : report.losses) writer.Double(loss);
  writer.EndArray();
  writer.Key("epochs");
  writer.BeginArray();
  for (const Teacher::Epoch& epoch : report.epochs) {
    writer.BeginObject();
    WriteNumber(writer, "loss", epoch.loss);
    if (generator_) WriteNumber(writer, "generator_loss", epoch.generator_loss);
    if (epoch.validation) {
      writer.Key("validation");
      Write(writer, *epoch.validation);
    }
    writer.EndObject();
  }
  writer.EndArray();
  writer.Key("labels");
  writer.Strings(trainee_->config().id2label);
  writer.EndObject();
  return json;
}

Result<std::string> TeachSession::Files() {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kTeaching, "files"));
  std::string json;
  JsonWriter writer(&json);
  writer.BeginArray();
  const auto list = [&](const Exporter& exporter, std::string_view folder) {
    for (const Exporter::File& file : exporter.files()) {
      writer.BeginObject();
      writer.Key("name");
      writer.String(std::string(folder) + file.name);
      WriteCount(writer, "bytes", static_cast<int64_t>(file.bytes));
      writer.EndObject();
    }
  };
  list(*exporter_, "");
  if (generator_exporter_) list(*generator_exporter_, kGenerator);
  writer.EndArray();
  return json;
}

Result<std::span<const uint8_t>> TeachSession::ReadFile(std::string_view name, uint64_t first, uint64_t count) {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kTeaching, "readFile"));
  if (generator_exporter_ && name.starts_with(kGenerator)) {
    return generator_exporter_->Read(name.substr(kGenerator.size()), first, count);
  }
  return exporter_->Read(name, first, count);
}

}  // namespace peruse::train

#include "core/train/session/teach_session.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/json_writer.h"
#include "core/base/memory.h"
#include "core/train/recipes/folds.h"
#include "core/train/session/teach_request.h"

namespace peruse::train {
namespace {

// With fewer examples, cross-validation replaces held-out examples: a share of them would be too small.
constexpr size_t kFewToHoldOut = 30;

}  // namespace

Status TeachSession::Open(std::string_view request) {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kFiles, "open"));
  PERUSE_RETURN_IF_ERROR(Fail(OpenParts(request)));
  files_.clear();
  stage_ = Stage::kWeights;
  return OkStatus();
}

Result<std::string> TeachSession::SetShardIndex(std::string_view index_json) {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kWeights, "setShardIndex"));
  const Result<std::vector<std::string>> files = Fed().SetShardIndex(index_json);
  PERUSE_RETURN_IF_ERROR(Fail(files.status()));
  return ShardsJson(*files);
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
  const std::vector<WeightTensor>& tensors = fed.weight_tensors().tensors();
  for (const WeightTensor& weight_tensor : tensors) parameters += weight_tensor.size;
  writer.BeginObject();
  WriteCount(writer, "tensors", static_cast<int64_t>(tensors.size()));
  WriteCount(writer, "parameters", parameters);
  writer.Key("fresh");
  writer.BeginArray();
  for (const WeightTensor& weight_tensor : tensors) {
    if (weight_tensor.fresh) writer.String(weight_tensor.name);
  }
  writer.EndArray();
  writer.EndObject();
  return json;
}

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
    const size_t before = examples.size();
    const Status status = reader_->Read(item, &examples);
    if (!status.ok()) {
      return Status(status.code(),
                    (training ? "example " : "validation example ") + std::to_string(read) + ": " + status.message());
    }
    for (size_t i = before; i < examples.size(); ++i) examples[i].number = read;
    ++read;
  }
  return std::to_string(read);
}

void TeachSession::SplitValidation() {
  if (!validation_.empty() || request_.validation_split == 0) return;
  const bool one_label = (reader_->goal() == Goal::kSingleLabel || reader_->goal() == Goal::kSoftLabels) &&
                         !trainee_->config().reads_labels();
  if (one_label && training_.size() < kFewToHoldOut) {
    cross_validates_ = true;
    notices_.push_back("validation holds nothing out: " + std::to_string(training_.size()) +
                       " examples are too few, so that accuracy is by cross-validation.");
    return;
  }
  const std::vector<bool> held_out = HeldOut(training_, double{request_.validation_split}, request_.options.seed);
  std::vector<Example> kept;
  for (size_t i = 0; i < training_.size(); ++i) (held_out[i] ? validation_ : kept).push_back(std::move(training_[i]));
  training_ = std::move(kept);
  if (validation_.empty()) notices_.push_back("validation holds nothing out: the share is too small for the examples.");
}

// Adds warnings about labels without examples, and about texts and entities that max_length truncated.
void TeachSession::NoteExamples() {
  const Goal goal = reader_->goal();
  const std::vector<std::string>& labels = trainee_->config().id2label;
  const auto list = [&](const std::vector<Example>& examples, const std::string& text) {
    std::vector<bool> seen(labels.size());
    for (const Example& example : examples) {
      if (goal == Goal::kSingleLabel || goal == Goal::kTokens) {
        for (const int32_t label : example.labels)
          if (label >= 0) seen[static_cast<size_t>(label)] = true;
      }
      for (size_t k = 0; k < example.targets.size() && goal != Goal::kRegression; ++k)
        seen[k] = seen[k] || example.targets[k] > 0;
    }
    std::string missing;
    for (size_t k = 0; k < labels.size(); ++k)
      if (!seen[k] && !labels[k].starts_with("I-")) missing += (missing.empty() ? "" : ", ") + labels[k];
    if (!missing.empty()) notices_.push_back(text + missing + ".");
  };
  const bool labelled =
      goal == Goal::kSingleLabel || goal == Goal::kSoftLabels || goal == Goal::kMultiLabel || goal == Goal::kTokens;
  if (labelled) list(training_, "No training example has the label ");
  if (labelled && !validation_.empty()) list(validation_, "No validation example has the label ");
  if (reader_->cut() > 0) {
    notices_.push_back(std::to_string(reader_->cut()) + " texts are longer than max_length (" +
                       std::to_string(reader_->max_length()) + " tokens) and were cut.");
  }
  if (request_.max_length > reader_->max_length()) {
    notices_.push_back("max_length is " + std::to_string(reader_->max_length()) + ": the model takes no more.");
  }
  if (reader_->lost_entities() > 0) {
    notices_.push_back(std::to_string(reader_->lost_entities()) +
                       " entities have no token: they are after the cut, or white space.");
  }
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
  NoteExamples();
  const auto options = [request = request_, width = trainee_->config().hidden_size,
                        examples = static_cast<int64_t>(training_.size())](Method method) {
    return request.OptionsFor(method, width, examples);
  };
  const std::optional<Method> method =
      request_.chooses_method && !request_.pretrains() ? std::nullopt : std::optional(request_.options.method);
  trials_ = std::make_unique<Trials>(*trainee_, reader_->goal(), options, method, cross_validates_,
                                     std::move(training_), std::move(validation_), generator_.get());
  Result<Teacher::Plan> plan = trials_->Begin();
  if (!plan.ok()) return Fail(plan.status());
  stage_ = Stage::kTeaching;
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  WriteCount(writer, "steps", trials_->total_steps());
  WriteCount(writer, "epochs", trials_->options().epochs);
  WriteCount(writer, "examples", plan->examples);
  WriteCount(writer, "validation_examples", plan->validation_examples);
  WriteCount(writer, "trained_parameters", plan->trained);
  WriteCount(writer, "memory_bytes", plan->bytes);
  writer.EndObject();
  return json;
}

Result<std::string> TeachSession::Step() {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kTeaching, "step"));
  Result<Teacher::Progress> progress = trials_->Advance();
  if (!progress.ok()) return Fail(progress.status());
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  writer.Key("more");
  writer.Bool(progress->more);
  writer.Key("phase");
  writer.String(progress->phase);
  WriteCount(writer, "step", progress->step);
  WriteCount(writer, "steps", trials_->total_steps());
  WriteCount(writer, "epoch", progress->epoch);
  writer.Key("loss");
  progress->step > 0 ? writer.Double(progress->loss) : writer.Null();
  WriteNumber(writer, "learning_rate", progress->learning_rate);
  if (generator_) WriteNumber(writer, "generator_loss", progress->generator_loss);
  if (progress->validated) {
    writer.Key("validation");
    Write(writer, *trials_->report().epochs.back().validation);
  }
  writer.EndObject();
  return json;
}

Result<std::string> TeachSession::Files() {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kTeaching, "files"));
  const TeachOptions& options = trials_->options();
  exporter_ = std::make_unique<Exporter>(*trainee_, ExportRequest{config_json_, request_.head, request_.problem,
                                                                  &options, sentence_ ? &*sentence_ : nullptr});
  if (generator_) {
    generator_exporter_ = std::make_unique<Exporter>(
        *generator_, ExportRequest{generator_json_, Head::kMaskedLm, request_.problem, &options});
  }
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
  if (generator_exporter_) list(*generator_exporter_, kGeneratorFolder);
  writer.EndArray();
  return json;
}

Result<std::span<const uint8_t>> TeachSession::ReadFile(std::string_view name, uint64_t first, uint64_t count) {
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kTeaching, "readFile"));
  if (generator_exporter_ && name.starts_with(kGeneratorFolder)) {
    return generator_exporter_->Read(name.substr(kGeneratorFolder.size()), first, count);
  }
  return exporter_->Read(name, first, count);
}

}  // namespace peruse::train

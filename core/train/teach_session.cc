#include "core/train/teach_session.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/api/sentence_modules_reader.h"
#include "core/base/json_writer.h"
#include "core/base/memory.h"
#include "core/train/folds.h"
#include "core/train/generator_config.h"

namespace peruse::train {
namespace {

// A last loss above this share of ln(labels), which guessing has, is reported.
constexpr double kLittleLearnt = 0.8;
// Below so many examples a held-out share says little, and cross-validation takes its place.
constexpr size_t kFewToHoldOut = 30;

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

SentenceHead HeadOf(const SentenceModules& modules) {
  const PoolingMode pooling = modules.pooling[0];
  return {.pick = pooling == PoolingMode::kMean  ? PooledHead::Pick::kMean
                  : pooling == PoolingMode::kCls ? PooledHead::Pick::kFirst
                                                 : PooledHead::Pick::kLast,
          .normalized = !modules.steps.empty()};
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
  if (request_.head == Head::kSequenceClassification) PERUSE_RETURN_IF_ERROR(ReadSentence());
  std::optional<SentenceHead> sentence;
  if (sentence_) sentence = HeadOf(*sentence_);
  PERUSE_ASSIGN_OR_RETURN(trainee_, Trainee::Create(config_json_, request_.head, request_.labels, sentence));
  text::TokenizerFiles tokenizer_files;
  for (const auto& [name, bytes] : files_) {
    if (name.find('/') == std::string::npos) tokenizer_files.emplace(name, bytes);
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
  if (sentence_ && sentence_->max_seq_length) limit = std::min<int64_t>(limit, *sentence_->max_seq_length);
  reader_ = std::make_unique<ExampleReader>(*tokenizer_, request_, model.id2label, static_cast<int32_t>(limit));
  return OkStatus();
}

// A folder of sentence_transformers is taught on its own vector of a text: one pooling, and nothing after it but a normalisation and the
// classifier of an earlier training.
Status TeachSession::ReadSentence() {
  const auto read = [this](const std::string& path) -> std::optional<std::string_view> {
    const auto file = files_.find(path);
    return file == files_.end() ? std::nullopt : std::optional<std::string_view>(file->second);
  };
  PERUSE_ASSIGN_OR_RETURN(sentence_, ReadSentenceModules(read));
  if (!sentence_) return OkStatus();
  std::vector<SentenceStep>& steps = sentence_->steps;
  if (sentence_->classifies) steps.pop_back();
  const auto cannot = [](const std::string& what) {
    return Unsupported("modules.json: " + what +
                       ", on which a classifier cannot be taught yet; without modules.json the model's own head is");
  };
  const bool known = sentence_->pooling.size() == 1 &&
                     (sentence_->pooling[0] == PoolingMode::kMean || sentence_->pooling[0] == PoolingMode::kCls ||
                      sentence_->pooling[0] == PoolingMode::kLastToken);
  if (!known) return cannot("its pooling is neither mean nor cls nor lasttoken");
  for (const SentenceStep& step : steps) {
    if (step.kind == SentenceStep::Kind::kDense) return cannot("it names a Dense");
  }
  if (sentence_->do_lower_case) return cannot("its texts are lower-cased (do_lower_case)");
  if (sentence_->default_prompt) return cannot("its texts have a prompt (default_prompt_name)");
  if (request_.options.method == Method::kLora) {
    return Unsupported(
        "method \"lora\" on a folder of sentence-transformers: an adapter has no place for its classifier");
  }
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
  options.disentangled = trainee_->family().pretraining().disentangled;
  options.masking.masked = options.disentangled ? 1 : 0.85f;
  options.masking.random = 0;
  if (options.detection_weight == 0) options.detection_weight = options.disentangled ? 10 : 50;
  const auto config = files_.find(std::string(kGenerator) + "config.json");
  generator_comes_ = config != files_.end();
  generator_json_ = generator_comes_ ? config->second : GeneratorConfig(config_json_, trainee_->family(), model);
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

// Holds out a share of the examples (folds.h).
void TeachSession::SplitValidation() {
  if (!validation_.empty() || request_.validation_split == 0) return;
  const bool one_label = reader_->goal() == Goal::kSingleLabel || reader_->goal() == Goal::kSoftLabels;
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

// Labels that no example has, and what the reader cut.
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

// ---- Teaching -------------------------------------------------------------------------------------------------------

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

// "accuracy": how good the kept method is on examples that it had not seen, by label, and which it got wrong; "compared": all methods that
// were scored.
void TeachSession::WriteScores(JsonWriter& writer) const {
  const std::vector<Trials::Score>& scores = trials_->scores();
  if (scores.empty()) return;
  const auto head = [&](const Trials::Score& score) {
    writer.Key("method");
    writer.String(MethodName(score.method));
    WriteNumber(writer, "accuracy", score.accuracy);
    WriteCount(writer, "folds", score.folds);
  };
  writer.Key("compared");
  writer.BeginArray();
  for (const Trials::Score& score : scores) {
    writer.BeginObject();
    head(score);
    writer.EndObject();
  }
  writer.EndArray();
  const auto kept = std::find_if(scores.begin(), scores.end(),
                                 [&](const Trials::Score& score) { return score.method == trials_->options().method; });
  const Trials::Score& score = kept == scores.end() ? scores[0] : *kept;
  const std::vector<std::string>& labels = trainee_->config().id2label;
  std::vector<int64_t> all(labels.size()), right(labels.size());
  writer.Key("accuracy");
  writer.BeginObject();
  head(score);
  writer.Key("wrong");
  writer.BeginArray();
  for (size_t i = 0; i < score.guesses.size(); ++i) {
    const auto label = static_cast<size_t>(trials_->LabelOf(i));
    const Guess& guess = score.guesses[i];
    ++all[label];
    if (guess.label == static_cast<int32_t>(label)) {
      ++right[label];
      continue;
    }
    writer.BeginObject();
    WriteCount(writer, "example", trials_->training()[i].number);
    writer.Key("label");
    writer.String(labels[label]);
    writer.Key("predicted");
    writer.String(labels[static_cast<size_t>(guess.label)]);
    WriteNumber(writer, "score", double{guess.score});
    writer.EndObject();
  }
  writer.EndArray();
  writer.Key("labels");
  writer.BeginArray();
  for (size_t k = 0; k < labels.size(); ++k) {
    writer.BeginObject();
    writer.Key("label");
    writer.String(labels[k]);
    WriteCount(writer, "examples", all[k]);
    WriteCount(writer, "right", right[k]);
    writer.EndObject();
  }
  writer.EndArray();
  writer.EndObject();
}

std::vector<std::string> TeachSession::Notices() const {
  std::vector<std::string> notices = notices_;
  const Goal goal = reader_->goal();
  const std::vector<double>& losses = trials_->report().losses;
  const double chance = std::log(static_cast<double>(trainee_->config().num_labels()));
  if ((goal == Goal::kSingleLabel || goal == Goal::kTokens) && !losses.empty() &&
      losses.back() > kLittleLearnt * chance) {
    notices.push_back(
        "Little was learnt: the last loss is near that of guessing. More epochs, a larger learning_rate, more examples "
        "or another "
        "model may help.");
  }
  return notices;
}

Result<std::string> TeachSession::Report() const {
  if (stage_ != Stage::kTeaching) return InvalidArgument("report was called out of order");
  const Teacher::Report& report = trials_->report();
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  writer.Key("method");
  writer.String(MethodName(trials_->options().method));
  WriteNumber(writer, "learning_rate", trials_->options().adamw.learning_rate);
  WriteCount(writer, "steps", report.steps);
  WriteCount(writer, "tokens", report.tokens);
  WriteCount(writer, "trained_parameters", trials_->plan().trained);
  WriteCount(writer, "memory_bytes", trials_->plan().bytes);
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
  WriteScores(writer);
  writer.Key("notices");
  writer.Strings(Notices());
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

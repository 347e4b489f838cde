#include "core/train/session/teach_request.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/api/option_reader.h"
#include "core/base/decimal.h"
#include "core/base/json.h"
#include "core/train/session/example_reader.h"

namespace peruse::train {
namespace {

constexpr size_t kMostLabels = 4096;

constexpr std::string_view kTasks[] = {
    "text-classification", "zero-shot-classification", "token-classification", "question-answering",
    "masked-lm",           "replaced-token-detection"};
constexpr Head kHeads[] = {Head::kSequenceClassification,
                           Head::kSequenceClassification,
                           Head::kTokenClassification,
                           Head::kQuestionAnswering,
                           Head::kMaskedLm,
                           Head::kReplacedTokenDetection};
constexpr int32_t kReadsLabels = 1;  // the task, of kTasks, for models that read labels with the text
constexpr std::string_view kProblems[] = {"single_label_classification", "multi_label_classification", "regression"};
constexpr ProblemType kProblemTypes[] = {ProblemType::kSingleLabel, ProblemType::kMultiLabel, ProblemType::kRegression};
constexpr std::string_view kMethods[] = {"head", "layers", "lora", "full", "contrast"};

// Learning rates by method. Small models need higher rates: ELECTRA and ConvBERT fine-tune with 1e-4 at width 768 and 3e-4 at 256;
// docs/internals/training.md measures that for 128.
constexpr float kRates[] = {1e-3f, 1e-4f, 5e-4f, 5e-5f, 2e-4f};
constexpr float kHighestRates[] = {1e-3f, 2e-3f, 5e-3f, 1e-3f, 1e-3f};
float RateFactor(int32_t width) { return width <= 128 ? 20.0f : width <= 256 ? 6.0f : width <= 512 ? 2.0f : 1.0f; }

// Examples in an update. kContrast compares all pairs of a batch, so it learns more from larger ones.
constexpr int32_t kBatch = 16, kContrastBatch = 32;

// Minimum number of updates, reached by more epochs: with few updates, fine-tuning on small data fails (Mosbach et al., 2021).
constexpr int64_t kEnoughUpdates = 150;
constexpr int64_t kFewestEpochs = 3;
constexpr int32_t kMostValidations = 20;  // approximate; used if the request does not set the number of epochs

Status CheckRange(const char* option, float value, float least, float most) {
  if (value >= least && value <= most) return OkStatus();
  const auto text = [](float number) {
    return std::isfinite(number) ? DoubleToDecimal(double{number}, 6) : std::string("not a number");
  };
  return InvalidArgument("option " + std::string(option) + " is " + text(value) + ", which is not from " + text(least) +
                         " to " + text(most));
}

}  // namespace

Result<TeachRequest> ReadTeachRequest(std::string_view json) {
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(json, "the request to teach"));
  OptionReader reader(document.root());
  TeachRequest request;
  TeachOptions& options = request.options;
  int32_t task = -1, problem = 0, seed = 42;
  std::vector<std::string> labels;
  reader.Read("task", kTasks, &task);
  reader.Read("problem_type", kProblems, &problem);
  reader.Read("labels", &labels);
  reader.Read("method", kMethods, &options.method);
  request.chooses_method = !reader.Member("method").exists();
  options.adamw.learning_rate = -1;
  options.epochs = 0;
  options.batch_size = 0;
  reader.Read("layers", 1, &options.layers);
  reader.Read("lora_rank", 1, &options.lora_rank);
  reader.Read("lora_alpha", &options.lora_alpha);
  reader.Read("lora_targets", &options.lora_targets);
  reader.Read("freeze_words", &options.freeze_words);
  reader.Read("epochs", 1, &options.epochs);
  reader.Read("learning_rate", &options.adamw.learning_rate);
  reader.Read("batch_size", 1, &options.batch_size);
  reader.Read("batch_tokens", 1, &options.batch_tokens);
  reader.Read("weight_decay", &options.adamw.weight_decay);
  reader.Read("warmup", &options.adamw.warmup);
  reader.Read("clip", &options.adamw.clip);
  reader.Read("layer_decay", &options.adamw.layer_decay);
  reader.Read("dropout", &options.dropout);
  reader.Read("attention_dropout", &options.attention_dropout);
  reader.Read("label_smoothing", &options.cross_entropy.smoothing);
  reader.Read("sift", &options.sift);
  reader.Read("mask_share", &options.masking.share);
  options.detection_weight = 0;
  reader.Read("detection_weight", &options.detection_weight);
  reader.Read("validation_split", &request.validation_split);
  reader.Read("patience", 0, &options.patience);
  reader.Read("max_length", 1, &request.max_length);
  reader.Read("seed", 0, &seed);
  reader.Read("threads", 1, &options.threads);
  reader.Read("explains", &request.explains);
  PERUSE_RETURN_IF_ERROR(reader.status());
  PERUSE_RETURN_IF_ERROR(ReadFloats(reader.Member("class_weights"), "option class_weights", &options.class_weights));
  if (task < 0) return InvalidArgument("the request to teach names no task");
  if (reader.Member("learning_rate").IsNumber()) {
    PERUSE_RETURN_IF_ERROR(CheckRange("learning_rate", options.adamw.learning_rate, 0, 1));
  }
  PERUSE_RETURN_IF_ERROR(CheckRange("weight_decay", options.adamw.weight_decay, 0, 1));
  PERUSE_RETURN_IF_ERROR(CheckRange("warmup", options.adamw.warmup, 0, 1));
  PERUSE_RETURN_IF_ERROR(CheckRange("layer_decay", options.adamw.layer_decay, 0, 1));
  PERUSE_RETURN_IF_ERROR(CheckRange("dropout", options.dropout, 0, 0.99f));
  PERUSE_RETURN_IF_ERROR(CheckRange("attention_dropout", options.attention_dropout, 0, 0.99f));
  PERUSE_RETURN_IF_ERROR(CheckRange("label_smoothing", options.cross_entropy.smoothing, 0, 1));
  PERUSE_RETURN_IF_ERROR(CheckRange("validation_split", request.validation_split, 0, 0.9f));
  PERUSE_RETURN_IF_ERROR(CheckRange("sift", options.sift, 0, 100));
  PERUSE_RETURN_IF_ERROR(CheckRange("mask_share", options.masking.share, 0.01f, 0.9f));
  PERUSE_RETURN_IF_ERROR(CheckRange("detection_weight", options.detection_weight, 0, 1000));
  PERUSE_RETURN_IF_ERROR(CheckRange("threads", static_cast<float>(options.threads), 1, 16));
  options.seed = static_cast<uint64_t>(seed);
  request.task = kTasks[task];
  request.head = kHeads[task];
  request.needs_labels = task == kReadsLabels;
  request.problem = kProblemTypes[problem];
  request.labels = labels;
  if (request.head == Head::kTokenClassification && !labels.empty()) {
    request.labels = {"O"};
    for (const std::string& label : labels) {
      request.labels.push_back("B-" + label);
      request.labels.push_back("I-" + label);
    }
  }
  if (labels.size() > kMostLabels) {
    return Unsupported(std::to_string(labels.size()) + " labels are to be taught; at most " +
                       std::to_string(kMostLabels) + " can be");
  }
  std::set<std::string_view> known;
  for (const std::string& label : labels) {
    if (!known.insert(label).second) return InvalidArgument("option labels names \"" + label + "\" twice");
  }
  return request;
}

TeachOptions TeachRequest::OptionsFor(Method method, int32_t width, int64_t examples) const {
  TeachOptions filled = options;
  filled.method = method;
  const auto number = static_cast<size_t>(method);
  float& rate = filled.adamw.learning_rate;
  if (rate < 0) {
    const float factor = method == Method::kHead ? 1 : RateFactor(width);
    rate = std::min(kRates[number] * factor, kHighestRates[number]);
  }
  if (filled.batch_size == 0) filled.batch_size = method == Method::kContrast ? kContrastBatch : kBatch;
  if (method == Method::kContrast) filled.epochs = 1;  // kContrast draws its batches, and has a fixed number of updates
  if (filled.epochs > 0) return filled;
  const int64_t updates = std::max<int64_t>(1, (examples + filled.batch_size - 1) / filled.batch_size);
  filled.epochs = static_cast<int32_t>(std::max((kEnoughUpdates + updates - 1) / updates, kFewestEpochs));
  // Validates less often, because successive states differ little.
  filled.validate_every = std::max(1, filled.epochs / kMostValidations);
  return filled;
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

}  // namespace peruse::train

#include "core/train/example_reader.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

#include "core/api/option_reader.h"
#include "core/base/utf8.h"
#include "core/tasks/label_rows.h"

namespace peruse::train {
namespace {

constexpr int32_t kUsualTokens = 512;
constexpr int32_t kStride = 128;  // tokens that consecutive windows of a long context share

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
constexpr std::string_view kProblems[] = {"single_label_classification", "multi_label_classification", "regression"};
constexpr ProblemType kProblemTypes[] = {ProblemType::kSingleLabel, ProblemType::kMultiLabel, ProblemType::kRegression};
constexpr std::string_view kMethods[] = {"head", "layers", "lora", "full"};

// Learning rates by method. Small models need higher rates: ELECTRA and ConvBERT fine-tune with 1e-4 at width 768 and 3e-4 at 256;
// docs/internals/teaching.md measures that for 128.
constexpr float kRates[] = {1e-3f, 1e-4f, 5e-4f, 5e-5f};
constexpr float kHighestRates[] = {1e-3f, 2e-3f, 5e-3f, 1e-3f};
float RateFactor(int32_t width) { return width <= 128 ? 20.0f : width <= 256 ? 6.0f : width <= 512 ? 2.0f : 1.0f; }

// Minimum number of updates, reached by more epochs: with few updates, fine-tuning on small data fails (Mosbach et al., 2021).
constexpr int64_t kEnoughUpdates = 150;
constexpr int64_t kFewestEpochs = 3;
constexpr int32_t kMostValidations = 20;  // approximate; used if the request does not set the number of epochs

Status CheckRange(const char* option, float value, float least, float most) {
  if (value >= least && value <= most) return OkStatus();
  char numbers[96];
  std::snprintf(numbers, sizeof(numbers), "%g, which is not from %g to %g", double{value}, double{least}, double{most});
  return InvalidArgument("option " + std::string(option) + " is " + numbers);
}

Status ReadFloats(JsonValue list, const char* what, std::vector<float>* values) {
  for (JsonValue item : list) {
    const std::optional<double> number = item.GetDouble();
    if (!number || !std::isfinite(*number)) return InvalidArgument(std::string(what) + " must be a list of numbers");
    values->push_back(static_cast<float>(*number));
  }
  return OkStatus();
}

std::unordered_map<std::string_view, int32_t> NumbersOf(const std::vector<std::string>& labels) {
  std::unordered_map<std::string_view, int32_t> numbers;
  for (size_t i = 0; i < labels.size(); ++i) numbers.emplace(labels[i], static_cast<int32_t>(i));
  return numbers;
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
  if (filled.epochs > 0) return filled;
  const int64_t updates = std::max<int64_t>(1, (examples + filled.batch_size - 1) / filled.batch_size);
  filled.epochs = static_cast<int32_t>(std::max((kEnoughUpdates + updates - 1) / updates, kFewestEpochs));
  // Validates less often, because successive states differ little.
  filled.validate_every = std::max(1, filled.epochs / kMostValidations);
  return filled;
}

ExampleReader::ExampleReader(const text::Tokenizer& tokenizer, const TeachRequest& request,
                             std::vector<std::string> labels, const LabelledInput* format, int32_t max_tokens)
    : tokenizer_(tokenizer),
      labels_(std::move(labels)),
      format_(format),
      label_numbers_(NumbersOf(labels_)),
      max_length_(request.max_length > 0 ? std::min(request.max_length, max_tokens)
                                         : std::min(max_tokens, kUsualTokens)),
      goal_(request.head == Head::kMaskedLm                 ? Goal::kMaskedWords
            : request.head == Head::kReplacedTokenDetection ? Goal::kReplaced
            : request.head == Head::kTokenClassification    ? Goal::kTokens
            : request.head == Head::kQuestionAnswering      ? Goal::kSpan
            : request.problem == ProblemType::kMultiLabel   ? Goal::kMultiLabel
            : request.problem == ProblemType::kRegression   ? Goal::kRegression
                                                            : Goal::kSingleLabel) {}

Status ExampleReader::Read(JsonValue example, std::vector<Example>* examples) {
  if (!example.IsObject()) return InvalidArgument("it is not an object");
  if (goal_ == Goal::kMaskedWords || goal_ == Goal::kReplaced) return ReadLine(example, examples);
  if (goal_ == Goal::kTokens) return ReadEntities(example, examples);
  if (goal_ == Goal::kSpan) return ReadAnswer(example, examples);
  return ReadText(example, examples);
}

Result<text::Encoding> ExampleReader::Encode(std::string_view text, const JsonValue& pair) {
  text::EncodeOptions options;
  options.truncation = text::Truncation::kLongestFirst;
  options.max_length = max_length_;
  const std::optional<std::string_view> second = pair.GetString();
  if (pair.exists() && !second) return InvalidArgument("its \"pair\" is not a string");
  auto windows = second ? tokenizer_.EncodePair(text, *second, options) : tokenizer_.Encode(text, options);
  PERUSE_RETURN_IF_ERROR(windows.status());
  text::Encoding& first = windows->front();
  if (windows->size() > 1) ++cut_;
  if (first.is_blank[0] && first.is_blank[1]) {
    return Status(StatusCode::kEmptyText, "it has no text: it is empty or only white space");
  }
  return std::move(first);
}

Result<int32_t> ExampleReader::LabelOf(std::string_view name) const {
  const auto found = label_numbers_.find(name);
  if (found != label_numbers_.end()) return found->second;
  constexpr size_t kNamed = 20;
  std::string known;
  for (size_t i = 0; i < std::min(labels_.size(), kNamed); ++i) known += (i == 0 ? "" : ", ") + labels_[i];
  if (labels_.size() > kNamed) known += " and " + std::to_string(labels_.size() - kNamed) + " more";
  return InvalidArgument("its label \"" + std::string(name) + "\" is none of these: " + known);
}

Status ExampleReader::ReadText(JsonValue example, std::vector<Example>* examples) {
  const std::optional<std::string_view> text = example.FindMember("text").GetString();
  if (!text) return InvalidArgument("it lacks the string \"text\"");
  Example read;
  if (format_ != nullptr) {
    if (example.FindMember("pair").exists())
      return Unsupported("a model that reads labels takes one text, and it has a \"pair\"");
    PERUSE_ASSIGN_OR_RETURN(read, ReadWithLabels(*text));
  } else {
    PERUSE_ASSIGN_OR_RETURN(const text::Encoding encoding, Encode(*text, example.FindMember("pair")));
    read = {.ids = encoding.ids, .types = encoding.type_ids};
  }
  PERUSE_RETURN_IF_ERROR(ReadLabel(example, &read));
  examples->push_back(std::move(read));
  return OkStatus();
}

// Reads a text together with all labels, in the form that the zero-shot-classification task uses.
Result<Example> ExampleReader::ReadWithLabels(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return Status(StatusCode::kEmptyText, "it has no text: it is empty or only white space");
  text::EncodeOptions options;
  options.truncation = text::Truncation::kOnlyFirst;
  options.max_length = max_length_;
  PERUSE_ASSIGN_OR_RETURN(const std::vector<text::Encoding> windows,
                          tokenizer_.Encode(WithLabels(*format_, labels_, std::string(text)), options));
  const text::Encoding& tokens = windows.front();
  Example read = {.ids = tokens.ids, .types = tokens.type_ids};
  read.read_labels = LabelRows(*format_, read.ids);
  const bool whole = read.read_labels.labels.size() == labels_.size() && !read.read_labels.words.empty();
  if (!whole && windows.size() > 1)
    return Status(StatusCode::kTextTooLong,
                  "it and the labels have more than " + std::to_string(max_length_) + " tokens");
  if (!whole) return InvalidArgument("it or a label contains a marker of the model");
  if (windows.size() > 1) ++cut_;
  PairTextWithLabels(labels_.size(), &read.read_labels);
  return read;
}

// Reads a line of plain text. The part beyond max_length becomes another example.
Status ExampleReader::ReadLine(JsonValue example, std::vector<Example>* examples) {
  const std::optional<std::string_view> text = example.FindMember("text").GetString();
  if (!text) return InvalidArgument("it lacks the string \"text\"");
  text::EncodeOptions options;
  options.truncation = text::Truncation::kLongestFirst;
  options.max_length = max_length_;
  PERUSE_ASSIGN_OR_RETURN(const std::vector<text::Encoding> windows, tokenizer_.Encode(*text, options));
  const size_t before = examples->size();
  for (const text::Encoding& window : windows) {
    Example read = {.ids = window.ids, .types = window.type_ids};
    for (size_t t = 0; t < window.size(); ++t) {
      const bool word = window.special_tokens_mask[t] == 0 && window.ids[t] != tokenizer_.mask_id();
      if (word) read.chosen.push_back(static_cast<int32_t>(t));
    }
    if (!read.chosen.empty()) examples->push_back(std::move(read));
  }
  if (examples->size() > before) return OkStatus();
  return Status(StatusCode::kEmptyText, "it has no text: it is empty or only white space");
}

Status ExampleReader::ReadLabel(JsonValue example, Example* read) {
  const JsonValue label = example.FindMember("label");
  const JsonValue probabilities = example.FindMember("probabilities");
  if (probabilities.exists()) return ReadProbabilities(probabilities, read);
  if (goal_ == Goal::kRegression) {
    if (const std::optional<double> number = label.GetDouble()) {
      read->targets = {static_cast<float>(*number)};
    } else if (!label.IsArray()) {
      return InvalidArgument("its \"label\" is not a number, which regression needs");
    } else {
      PERUSE_RETURN_IF_ERROR(ReadFloats(label, "its \"label\"", &read->targets));
    }
    if (read->targets.size() == labels_.size()) return OkStatus();
    return InvalidArgument("its \"label\" has " + std::to_string(read->targets.size()) + " numbers; the model gives " +
                           std::to_string(labels_.size()));
  }
  if (goal_ == Goal::kMultiLabel) {
    if (!label.IsArray()) return InvalidArgument("its \"label\" is not a list of labels");
    read->targets.assign(labels_.size(), 0);
    for (JsonValue item : label) {
      if (!item.GetString()) return InvalidArgument("its \"label\" is not a list of labels");
      PERUSE_ASSIGN_OR_RETURN(const int32_t number, LabelOf(*item.GetString()));
      read->targets[static_cast<size_t>(number)] = 1;
    }
    return OkStatus();
  }
  const std::optional<std::string_view> name = label.GetString();
  if (!name) return InvalidArgument("its \"label\" is not the name of a label");
  PERUSE_ASSIGN_OR_RETURN(const int32_t number, LabelOf(*name));
  if (goal_ == Goal::kSoftLabels) {
    read->targets.assign(labels_.size(), 0);
    read->targets[static_cast<size_t>(number)] = 1;
  } else {
    read->labels = {number};
    hard_labels_ = true;
  }
  return OkStatus();
}

Status ExampleReader::ReadProbabilities(JsonValue probabilities, Example* read) {
  if (goal_ == Goal::kRegression) return InvalidArgument("it has \"probabilities\", and the task is regression");
  PERUSE_RETURN_IF_ERROR(ReadFloats(probabilities, "its \"probabilities\"", &read->targets));
  if (read->targets.size() != labels_.size()) {
    return InvalidArgument("it has " + std::to_string(read->targets.size()) + " probabilities for " +
                           std::to_string(labels_.size()) + " labels");
  }
  float sum = 0;
  for (const float p : read->targets) {
    if (p < 0 || p > 1) return InvalidArgument("its \"probabilities\" are not all between 0 and 1");
    sum += p;
  }
  if (goal_ == Goal::kMultiLabel) return OkStatus();
  if (std::fabs(sum - 1) > 1e-3f) return InvalidArgument("its \"probabilities\" do not add up to 1");
  if (hard_labels_)
    return InvalidArgument(
        "it has \"probabilities\", and an example before it a \"label\" alone; give the first of them probabilities "
        "too");
  goal_ = Goal::kSoftLabels;
  return OkStatus();
}

Status ExampleReader::ReadEntities(JsonValue example, std::vector<Example>* examples) {
  const std::optional<std::string_view> text = example.FindMember("text").GetString();
  const JsonValue entities = example.FindMember("entities");
  if (!text) return InvalidArgument("it lacks the string \"text\"");
  if (!entities.IsArray()) return InvalidArgument("it lacks the list \"entities\"");
  PERUSE_ASSIGN_OR_RETURN(const text::Encoding encoding, Encode(*text, {}));
  PERUSE_ASSIGN_OR_RETURN(const int32_t outside, LabelOf("O"));
  Example read = {.ids = encoding.ids, .types = encoding.type_ids};
  for (size_t t = 0; t < encoding.size(); ++t) {
    read.labels.push_back(encoding.special_tokens_mask[t] != 0 ? kIgnored : outside);
  }
  Utf8IndexConverter index(*text);
  const auto units = static_cast<int64_t>(index.ToUtf16(text->size()));
  std::vector<int32_t> entity_of(encoding.size(), -1);
  int32_t number = -1;
  for (JsonValue entity : entities) {
    ++number;
    const std::optional<int64_t> start = entity.FindMember("start").GetInt64(),
                                 end = entity.FindMember("end").GetInt64();
    if (!start || !end || *start < 0 || *end <= *start || *end > units) {
      return InvalidArgument("an entity of it is not within the text: start and end must be places in its " +
                             std::to_string(units) + " characters");
    }
    const std::string kind(entity.FindMember("label").GetString().value_or(""));
    PERUSE_ASSIGN_OR_RETURN(const int32_t first, LabelOf("B-" + kind));
    PERUSE_ASSIGN_OR_RETURN(const int32_t inside, LabelOf("I-" + kind));
    const auto from = static_cast<int32_t>(index.Utf16ToByte(static_cast<size_t>(*start)));
    const auto to = static_cast<int32_t>(index.Utf16ToByte(static_cast<size_t>(*end)));
    int32_t label = first;
    for (size_t t = 0; t < encoding.size(); ++t) {
      const text::Offset& offset = encoding.offsets[t];
      if (read.labels[t] == kIgnored || offset.start >= to || offset.end <= from) continue;
      if (entity_of[t] >= 0) {
        return InvalidArgument("its entities " + std::to_string(entity_of[t]) + " and " + std::to_string(number) +
                               " share a token: entities must not overlap, and a token has one label");
      }
      entity_of[t] = number;
      read.labels[t] = label;
      label = inside;
    }
    lost_entities_ += label == first ? 1 : 0;
  }
  examples->push_back(std::move(read));
  return OkStatus();
}

Status ExampleReader::ReadAnswer(JsonValue example, std::vector<Example>* examples) {
  const std::optional<std::string_view> question = example.FindMember("question").GetString();
  const std::optional<std::string_view> context = example.FindMember("context").GetString();
  const JsonValue answer = example.FindMember("answer");
  if (!question || !context) return InvalidArgument("it lacks the strings \"question\" and \"context\"");
  Utf8IndexConverter index(*context);
  const auto units = static_cast<int64_t>(index.ToUtf16(context->size()));
  // Finds the answer's byte range. Without an answer, no token is in the range.
  int32_t from = -1, to = -1;
  if (!answer.IsNull()) {
    const std::optional<int64_t> start = answer.FindMember("start").GetInt64(),
                                 end = answer.FindMember("end").GetInt64();
    if (!start || !end || *start < 0 || *end <= *start || *end > units) {
      return InvalidArgument("its \"answer\" is not within the context: start and end must be places in its " +
                             std::to_string(units) + " characters");
    }
    from = static_cast<int32_t>(index.Utf16ToByte(static_cast<size_t>(*start)));
    to = static_cast<int32_t>(index.Utf16ToByte(static_cast<size_t>(*end)));
  }
  text::EncodeOptions options;
  options.truncation = text::Truncation::kOnlySecond;
  options.max_length = max_length_;
  options.stride = std::min(kStride, max_length_ / 4);
  PERUSE_ASSIGN_OR_RETURN(const std::vector<text::Encoding> windows,
                          tokenizer_.EncodePair(*question, *context, options));
  // A window without the whole answer has its first token as target, as in transformers' run_qa, and so has every window of a question
  // without answer.
  const size_t before = examples->size();
  for (const text::Encoding& window : windows) {
    int32_t first = -1, last = -1;
    bool has_context = false;
    for (size_t t = 0; t < window.size(); ++t) {
      const text::Offset& offset = window.offsets[t];
      has_context |= window.sequence_ids[t] == 1;
      if (window.sequence_ids[t] != 1 || offset.start >= to || offset.end <= from) continue;
      if (first < 0) first = static_cast<int32_t>(t);
      last = static_cast<int32_t>(t);
    }
    if (!has_context) continue;
    const bool whole = first >= 0 && window.offsets[static_cast<size_t>(first)].start <= from &&
                       window.offsets[static_cast<size_t>(last)].end >= to;
    examples->push_back({.ids = window.ids,
                         .types = window.type_ids,
                         .labels = whole ? std::vector<int32_t>{first, last} : std::vector<int32_t>{0, 0}});
  }
  if (examples->size() == before) {
    return Status(StatusCode::kEmptyText, "its context has no text: it is empty or only white space");
  }
  return OkStatus();
}

}  // namespace peruse::train

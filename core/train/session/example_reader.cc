#include "core/train/session/example_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/utf8.h"
#include "core/tasks/labels/gliclass_reader.h"

namespace peruse::train {
namespace {

constexpr int32_t kUsualTokens = 512;
constexpr int32_t kStride = 128;  // tokens that consecutive windows of a long context share

std::unordered_map<std::string_view, int32_t> NumbersOf(const std::vector<std::string>& labels) {
  std::unordered_map<std::string_view, int32_t> numbers;
  for (size_t i = 0; i < labels.size(); ++i) numbers.emplace(labels[i], static_cast<int32_t>(i));
  return numbers;
}

// A text, or two, with a label.
class TextReader : public ExampleReader {
 public:
  using ExampleReader::ExampleReader;

 protected:
  virtual Status ReadLabel(JsonValue label, Example* read) = 0;
  virtual Status ReadProbabilities(JsonValue probabilities, Example* read) = 0;
  // Reads a probability for each label, and returns their sum.
  Result<float> ReadTargets(JsonValue probabilities, Example* read) const;

 private:
  Status ReadObject(JsonValue example, std::vector<Example>* examples) override;
  Result<Example> ReadWithLabels(std::string_view text);
};

class RegressionReader : public TextReader {
 public:
  explicit RegressionReader(Context context) : TextReader(Goal::kRegression, std::move(context)) {}

 private:
  Status ReadLabel(JsonValue label, Example* read) override;
  Status ReadProbabilities(JsonValue, Example*) override {
    return InvalidArgument("it has \"probabilities\", and the task is regression");
  }
};

class MultiLabelReader : public TextReader {
 public:
  explicit MultiLabelReader(Context context) : TextReader(Goal::kMultiLabel, std::move(context)) {}

 private:
  Status ReadLabel(JsonValue label, Example* read) override;
  Status ReadProbabilities(JsonValue probabilities, Example* read) override {
    return ReadTargets(probabilities, read).status();
  }
};

// The goal becomes kSoftLabels with the first example that has probabilities.
class OneLabelReader : public TextReader {
 public:
  explicit OneLabelReader(Context context) : TextReader(Goal::kSingleLabel, std::move(context)) {}

 private:
  Status ReadLabel(JsonValue label, Example* read) override;
  Status ReadProbabilities(JsonValue probabilities, Example* read) override;

  bool hard_labels_ = false;
};

// A line of plain text. The part beyond max_length becomes another example.
class LineReader : public ExampleReader {
 public:
  LineReader(Goal goal, Context context) : ExampleReader(goal, std::move(context)) {}

 private:
  Status ReadObject(JsonValue example, std::vector<Example>* examples) override;
};

class EntitiesReader : public ExampleReader {
 public:
  explicit EntitiesReader(Context context) : ExampleReader(Goal::kTokens, std::move(context)) {}

 private:
  Status ReadObject(JsonValue example, std::vector<Example>* examples) override;
};

class AnswerReader : public ExampleReader {
 public:
  explicit AnswerReader(Context context) : ExampleReader(Goal::kSpan, std::move(context)) {}

 private:
  Status ReadObject(JsonValue example, std::vector<Example>* examples) override;
};

Status TextReader::ReadObject(JsonValue example, std::vector<Example>* examples) {
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
  const JsonValue probabilities = example.FindMember("probabilities");
  PERUSE_RETURN_IF_ERROR(probabilities.exists() ? ReadProbabilities(probabilities, &read)
                                                : ReadLabel(example.FindMember("label"), &read));
  examples->push_back(std::move(read));
  return OkStatus();
}

// Reads a text together with all labels, in the form that the zero-shot-classification task uses.
Result<Example> TextReader::ReadWithLabels(std::string_view text) {
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

Result<float> TextReader::ReadTargets(JsonValue probabilities, Example* read) const {
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
  return sum;
}

Status RegressionReader::ReadLabel(JsonValue label, Example* read) {
  if (const std::optional<double> number = label.GetDouble()) {
    read->targets = {static_cast<float>(*number)};
  } else if (!label.IsArray()) {
    return InvalidArgument("its \"label\" is not a number, which regression needs");
  } else {
    PERUSE_RETURN_IF_ERROR(ReadFloats(label, "its \"label\"", &read->targets));
  }
  if (read->targets.size() == labels_.size()) return OkStatus();
  const size_t numbers = read->targets.size();
  const std::string found =
      numbers == 0 ? "is an empty list" : "has " + std::to_string(numbers) + (numbers == 1 ? " number" : " numbers");
  return InvalidArgument("its \"label\" " + found + "; the model gives " + std::to_string(labels_.size()));
}

Status MultiLabelReader::ReadLabel(JsonValue label, Example* read) {
  if (!label.IsArray()) return InvalidArgument("its \"label\" is not a list of labels");
  read->targets.assign(labels_.size(), 0);
  for (JsonValue item : label) {
    if (!item.GetString()) return InvalidArgument("its \"label\" is not a list of labels");
    PERUSE_ASSIGN_OR_RETURN(const int32_t number, LabelOf(*item.GetString()));
    read->targets[static_cast<size_t>(number)] = 1;
  }
  return OkStatus();
}

Status OneLabelReader::ReadLabel(JsonValue label, Example* read) {
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

Status OneLabelReader::ReadProbabilities(JsonValue probabilities, Example* read) {
  PERUSE_ASSIGN_OR_RETURN(const float sum, ReadTargets(probabilities, read));
  if (std::fabs(sum - 1) > 1e-3f) return InvalidArgument("its \"probabilities\" do not add up to 1");
  if (hard_labels_)
    return InvalidArgument(
        "it has \"probabilities\", and an example before it a \"label\" alone; give the first of them probabilities "
        "too");
  goal_ = Goal::kSoftLabels;
  return OkStatus();
}

Status LineReader::ReadObject(JsonValue example, std::vector<Example>* examples) {
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

Status EntitiesReader::ReadObject(JsonValue example, std::vector<Example>* examples) {
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

Status AnswerReader::ReadObject(JsonValue example, std::vector<Example>* examples) {
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

}  // namespace

Status ReadFloats(JsonValue list, const char* what, std::vector<float>* values) {
  for (JsonValue item : list) {
    const std::optional<double> number = item.GetDouble();
    if (!number || !std::isfinite(*number)) return InvalidArgument(std::string(what) + " must be a list of numbers");
    values->push_back(static_cast<float>(*number));
  }
  return OkStatus();
}

ExampleReader::ExampleReader(Goal goal, Context context)
    : tokenizer_(context.tokenizer),
      labels_(std::move(context.labels)),
      format_(context.format),
      label_numbers_(NumbersOf(labels_)),
      max_length_(context.max_length),
      goal_(goal) {}

std::unique_ptr<ExampleReader> ExampleReader::Create(const text::Tokenizer& tokenizer, const TeachRequest& request,
                                                     std::vector<std::string> labels, const LabelledInput* format,
                                                     int32_t max_tokens) {
  const int32_t max_length = std::min(request.max_length > 0 ? request.max_length : kUsualTokens, max_tokens);
  Context context = {tokenizer, std::move(labels), format, max_length};
  if (request.head == Head::kMaskedLm) return std::make_unique<LineReader>(Goal::kMaskedWords, std::move(context));
  if (request.head == Head::kReplacedTokenDetection) {
    return std::make_unique<LineReader>(Goal::kReplaced, std::move(context));
  }
  if (request.head == Head::kTokenClassification) return std::make_unique<EntitiesReader>(std::move(context));
  if (request.head == Head::kQuestionAnswering) return std::make_unique<AnswerReader>(std::move(context));
  if (request.problem == ProblemType::kMultiLabel) return std::make_unique<MultiLabelReader>(std::move(context));
  if (request.problem == ProblemType::kRegression) return std::make_unique<RegressionReader>(std::move(context));
  return std::make_unique<OneLabelReader>(std::move(context));
}

Status ExampleReader::Read(JsonValue example, std::vector<Example>* examples) {
  if (!example.IsObject()) return InvalidArgument("it is not an object");
  return ReadObject(example, examples);
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

}  // namespace peruse::train

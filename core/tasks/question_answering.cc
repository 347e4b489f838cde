#include "core/tasks/question_answering.h"

#include <algorithm>
#include <utility>

#include "core/tasks/options.h"
#include "core/tasks/scores.h"
#include "core/tasks/spans.h"
#include "core/tokenizer/unicode.h"

namespace peruse {
namespace {

constexpr int32_t kDefaultWindow = 384;  // tokens
constexpr int32_t kDefaultStride = 128;  // tokens

constexpr int8_t kContextSequence = 1;

bool IsContext(const Encoding& window, size_t token) { return window.sequence_ids[token] == kContextSequence; }

// Softmax over the tokens where an answer may begin or end, and [CLS], which stands for "no answer"; zero elsewhere.
std::vector<float> CandidateProbabilities(const Encoding& window, std::span<const float> logits, size_t column,
                                          int32_t cls_id) {
  const size_t tokens = window.ids.size();
  std::vector<float> probabilities(tokens);
  for (size_t t = 0; t < tokens; ++t) {
    const bool candidate = IsContext(window, t) || window.ids[t] == cls_id;
    probabilities[t] = candidate ? logits[2 * t + column] : -10000.0f;
  }
  Softmax(probabilities);
  return probabilities;
}

// Lower-cased, for comparing answers.
std::string Folded(std::string_view text) {
  std::string folded;
  for (size_t at = 0; at < text.size();) {
    const LowerCase lower = ToLower(DecodeUtf8(text, &at));
    AppendUtf8(lower.first, &folded);
    if (lower.second) AppendUtf8(lower.second, &folded);
  }
  return folded;
}

Status Blank(std::string_view what) {
  return Status(StatusCode::kEmptyText, "the " + std::string(what) + " is empty or only white space");
}

}  // namespace

Status QuestionAnswering::Read(JsonValue inputs, JsonValue options) {
  questions_.clear();
  question_of_window_.clear();
  PERUSE_RETURN_IF_ERROR(ReadOptions(options));
  for (JsonValue input : inputs) {
    PERUSE_ASSIGN_OR_RETURN(const std::string_view question, ReadText(input, "question"));
    PERUSE_ASSIGN_OR_RETURN(const std::string_view context, ReadText(input, "context"));
    PERUSE_ASSIGN_OR_RETURN(std::vector<Encoding> windows, Windows(question, context));
    questions_.emplace_back().context = std::string(context);
    for (Encoding& window : windows) {
      Enqueue(std::move(window));
      question_of_window_.push_back(questions_.size() - 1);
    }
  }
  return OkStatus();
}

Result<std::vector<Encoding>> QuestionAnswering::Windows(std::string_view question, std::string_view context) const {
  EncodeOptions plain;
  plain.add_special_tokens = false;
  PERUSE_ASSIGN_OR_RETURN(const std::vector<Encoding> alone, tokenizer_.Encode(question, plain));
  const size_t question_tokens = alone[0].ids.size();
  if (question_tokens == 0) return Blank("question");

  Result<std::vector<Encoding>> windows = tokenizer_.EncodePair(question, context, encode_options_);
  if (!windows.ok()) {
    if (windows.status().code() != StatusCode::kInvalidArgument) return windows.status();
    return Status(StatusCode::kTextTooLong,
                  "the question has " + std::to_string(question_tokens) +
                      " tokens, which leaves too little room for the context in windows of max_seq_len " +
                      std::to_string(encode_options_.max_length) + " tokens that share doc_stride " +
                      std::to_string(encode_options_.stride));
  }
  const std::vector<int8_t>& sequences = (*windows)[0].sequence_ids;
  if (std::find(sequences.begin(), sequences.end(), kContextSequence) == sequences.end()) return Blank("context");
  return windows;
}

Status QuestionAnswering::ReadOptions(JsonValue options) {
  top_k_ = 1;
  max_answer_len_ = 15;
  handle_impossible_answer_ = false;
  align_to_words_ = true;
  const int32_t limit = MaxTokens();
  int32_t window = std::min(limit, kDefaultWindow);
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "top_k", 1, &top_k_));
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "max_answer_len", 1, &max_answer_len_));
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "handle_impossible_answer", &handle_impossible_answer_));
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "align_to_words", &align_to_words_));
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "max_seq_len", 1, &window));
  if (window > limit) {
    return InvalidArgument("option max_seq_len is " + std::to_string(window) + " and the model takes " +
                           std::to_string(limit) + " tokens");
  }
  int32_t stride = std::min(window / 2, kDefaultStride);
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "doc_stride", 0, &stride));
  if (stride > window) {
    return InvalidArgument("option doc_stride (" + std::to_string(stride) + ") is larger than max_seq_len (" +
                           std::to_string(window) + ")");
  }
  encode_options_ = {};
  encode_options_.truncation = Truncation::kOnlySecond;
  encode_options_.max_length = window;
  encode_options_.stride = stride;
  return OkStatus();
}

Status QuestionAnswering::Collect(size_t index, std::span<const float> logits) {
  const Encoding& window = encoding(index);
  if (logits.size() != 2 * window.ids.size()) {
    return Status(StatusCode::kShapeMismatch, "a question-answering head must have 2 outputs, start and end");
  }
  Question& question = questions_[question_of_window_[index]];
  std::vector<float> start = CandidateProbabilities(window, logits, 0, tokenizer_.cls_id());
  std::vector<float> end = CandidateProbabilities(window, logits, 1, tokenizer_.cls_id());
  question.null_score = std::min(question.null_score, start[0] * end[0]);
  for (const Span& span : BestSpans(window, start, end)) {
    AddAnswer(question, SpanBytes(window, span), span.score);
  }
  return OkStatus();
}

std::vector<QuestionAnswering::Span> QuestionAnswering::BestSpans(const Encoding& window, std::span<const float> start,
                                                                  std::span<const float> end) const {
  std::vector<Span> spans;
  const size_t tokens = window.ids.size();
  for (size_t i = 0; i < tokens; ++i) {
    if (!IsContext(window, i)) continue;
    const size_t limit = std::min(tokens, i + static_cast<size_t>(max_answer_len_));
    for (size_t j = i; j < limit && IsContext(window, j); ++j) {
      spans.push_back({static_cast<int32_t>(i), static_cast<int32_t>(j), start[i] * end[j]});
    }
  }
  // More than top_k, because widening to words makes some of them equal.
  const size_t wanted = align_to_words_ ? 2 * static_cast<size_t>(top_k_) + 10 : static_cast<size_t>(top_k_);
  const size_t kept = std::min(wanted, spans.size());
  const auto better = [](const Span& a, const Span& b) {
    if (a.score != b.score) return a.score > b.score;
    return a.first_token != b.first_token ? a.first_token < b.first_token : a.last_token < b.last_token;
  };
  std::partial_sort(spans.begin(), spans.begin() + static_cast<ptrdiff_t>(kept), spans.end(), better);
  spans.resize(kept);
  return spans;
}

Offset QuestionAnswering::SpanBytes(const Encoding& window, const Span& span) const {
  Offset bytes{window.offsets[static_cast<size_t>(span.first_token)].start,
               window.offsets[static_cast<size_t>(span.last_token)].end};
  if (!align_to_words_) return bytes;
  const auto same_word = [&](size_t token, size_t other) {
    return IsContext(window, token) && window.word_ids[token] == window.word_ids[other];
  };
  auto first = static_cast<size_t>(span.first_token);
  auto last = static_cast<size_t>(span.last_token);
  while (first > 0 && same_word(first - 1, first)) --first;
  while (last + 1 < window.ids.size() && same_word(last + 1, last)) ++last;
  return {window.offsets[first].start, window.offsets[last].end};
}

void QuestionAnswering::AddAnswer(Question& question, Offset bytes, float score) const {
  std::string text =
      question.context.substr(static_cast<size_t>(bytes.start), static_cast<size_t>(bytes.end - bytes.start));
  std::string folded = Folded(text);
  for (Answer& known : question.answers) {
    if (known.folded == folded) {
      known.score += score;
      return;
    }
  }
  question.answers.push_back({std::move(text), std::move(folded), score, bytes});
}

std::vector<QuestionAnswering::Answer> QuestionAnswering::Ranked(const Question& question) const {
  std::vector<Answer> answers = question.answers;
  if (handle_impossible_answer_) answers.push_back({"", "", question.null_score, {0, 0}});
  std::vector<float> scores;
  for (const Answer& answer : answers) scores.push_back(answer.score);
  std::vector<Answer> ranked;
  for (size_t i : BestFirst(scores, static_cast<size_t>(top_k_))) ranked.push_back(answers[i]);
  return ranked;
}

void QuestionAnswering::Write(JsonWriter& writer) const {
  writer.BeginArray();
  for (const Question& question : questions_) {
    Utf8IndexConverter index(question.context);
    writer.BeginArray();
    for (const Answer& answer : Ranked(question)) {
      writer.BeginObject();
      writer.Key("answer");
      writer.String(answer.text);
      writer.Key("score");
      writer.Double(answer.score);
      WriteSpan(writer, index, answer.bytes);
      writer.EndObject();
    }
    writer.EndArray();
  }
  writer.EndArray();
}

}  // namespace peruse

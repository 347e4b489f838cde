#include "core/tasks/question_answering.h"

#include <algorithm>
#include <utility>

#include "core/tasks/scores.h"
#include "core/text/unicode/unicode.h"

namespace peruse {
namespace {

constexpr int32_t kDefaultWindow = 384;  // in tokens
constexpr int32_t kDefaultStride = 128;  // in tokens

constexpr int8_t kContextSequence = 1;

bool IsContext(const text::Encoding& window, size_t token) { return window.sequence_ids[token] == kContextSequence; }

// Computes a softmax over [CLS], which means "no answer", and the tokens where an answer may begin or end. Other tokens get 0.
std::vector<float> CandidateProbabilities(const text::Encoding& window, std::span<const float> logits, size_t column,
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

std::string Folded(std::string_view text) {
  std::string folded;
  for (size_t at = 0; at < text.size();) {
    const text::LowerCase lower = text::ToLower(DecodeUtf8(text, &at));
    AppendUtf8(lower.first, &folded);
    if (lower.second) AppendUtf8(lower.second, &folded);
  }
  return folded;
}

}  // namespace

Status QuestionAnswering::Start() {
  PERUSE_ASSIGN_OR_RETURN(const text::EncodeOptions options, WindowOptions());
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    PERUSE_ASSIGN_OR_RETURN(std::vector<text::Encoding> windows, Windows(request.inputs[i], options));
    if (windows.empty()) Give(i, {});
    EnqueueAll(i, std::move(windows));
  }
  return OkStatus();
}

Result<text::EncodeOptions> QuestionAnswering::WindowOptions() const {
  const int32_t limit = MaxTokens();
  const int32_t window = request.max_length.value_or(std::min(limit, kDefaultWindow));
  if (window > limit) {
    return InvalidArgument("option max_length is " + std::to_string(window) + " and the model takes " +
                           std::to_string(limit) + " tokens: use at most that many");
  }
  const int32_t stride = request.stride.value_or(std::min(window / 2, kDefaultStride));
  if (stride > window) {
    return InvalidArgument("option stride (" + std::to_string(stride) + ") is larger than max_length (" +
                           std::to_string(window) + ")");
  }
  text::EncodeOptions options;
  options.truncation = text::Truncation::kOnlySecond;
  options.max_length = window;
  options.stride = stride;
  return options;
}

Status QuestionAnswering::NoWindows(const Status& status, const std::string& question,
                                    const text::EncodeOptions& options) const {
  text::EncodeOptions plain;
  plain.add_special_tokens = false;
  PERUSE_ASSIGN_OR_RETURN(const std::vector<text::Encoding> alone, tokenizer_.Encode(question, plain));
  if (status.code() != StatusCode::kInvalidArgument) return status;
  return Status(StatusCode::kTextTooLong,
                "the question has " + std::to_string(alone[0].ids.size()) +
                    " tokens, which leaves too little room for the context in windows of max_length " +
                    std::to_string(options.max_length) + " tokens that share stride " + std::to_string(options.stride));
}

Result<std::vector<text::Encoding>> QuestionAnswering::Windows(const QuestionInput& input,
                                                               const text::EncodeOptions& options) const {
  Result<std::vector<text::Encoding>> windows = tokenizer_.EncodePair(input.question, input.context, options);
  if (!windows.ok()) return NoWindows(windows.status(), input.question, options);
  const std::vector<int8_t>& sequences = (*windows)[0].sequence_ids;
  const bool has_context = std::find(sequences.begin(), sequences.end(), kContextSequence) != sequences.end();
  if ((*windows)[0].is_blank[0] || !has_context) windows->clear();
  return windows;
}

Status QuestionAnswering::Collect(const Reading& reading, size_t text) {
  const text::Encoding& window = reading.tokens;
  const Matrix logits = outputs_.Get(kLogits, text);
  if (logits.cols != 2) {
    return Status(StatusCode::kShapeMismatch, "a question-answering head must have 2 outputs, start and end");
  }
  const std::vector<float> start = CandidateProbabilities(window, logits.values, 0, tokenizer_.cls_id());
  const std::vector<float> end = CandidateProbabilities(window, logits.values, 1, tokenizer_.cls_id());
  const std::string_view context = request.inputs[reading.input].context;
  null_score_ = std::min(null_score_, start[0] * end[0]);
  for (const Span& span : BestSpans(window, start, end)) AddCandidate(context, SpanBytes(window, span), span.score);
  if (!reading.last) return OkStatus();
  Give(reading.input, Ranked(context));
  candidates_.clear();
  by_text_.clear();
  null_score_ = 1e6f;
  return OkStatus();
}

std::vector<QuestionAnswering::Span> QuestionAnswering::BestSpans(const text::Encoding& window,
                                                                  std::span<const float> start,
                                                                  std::span<const float> end) const {
  std::vector<Span> spans;
  const size_t tokens = window.ids.size();
  for (size_t i = 0; i < tokens; ++i) {
    if (!IsContext(window, i)) continue;
    const size_t limit = std::min(tokens, i + static_cast<size_t>(request.max_answer_len));
    for (size_t j = i; j < limit && IsContext(window, j); ++j) {
      spans.push_back({static_cast<int32_t>(i), static_cast<int32_t>(j), start[i] * end[j]});
    }
  }
  // Keeps more than top_k spans, because extending to words makes some answers equal.
  const int64_t wanted = request.align_to_words ? 2 * int64_t{request.top_k} + 10 : request.top_k;
  const auto kept = static_cast<size_t>(std::min(wanted, static_cast<int64_t>(spans.size())));
  const auto better = [](const Span& a, const Span& b) {
    if (a.score != b.score) return a.score > b.score;
    return a.first_token != b.first_token ? a.first_token < b.first_token : a.last_token < b.last_token;
  };
  std::partial_sort(spans.begin(), spans.begin() + static_cast<ptrdiff_t>(kept), spans.end(), better);
  spans.resize(kept);
  return spans;
}

text::Offset QuestionAnswering::SpanBytes(const text::Encoding& window, const Span& span) const {
  text::Offset bytes{window.offsets[static_cast<size_t>(span.first_token)].start,
                     window.offsets[static_cast<size_t>(span.last_token)].end};
  if (!request.align_to_words) return bytes;
  const auto same_word = [&](size_t token, size_t other) {
    return IsContext(window, token) && window.word_ids[token] == window.word_ids[other];
  };
  auto first = static_cast<size_t>(span.first_token);
  auto last = static_cast<size_t>(span.last_token);
  while (first > 0 && same_word(first - 1, first)) --first;
  while (last + 1 < window.ids.size() && same_word(last + 1, last)) ++last;
  return {window.offsets[first].start, window.offsets[last].end};
}

void QuestionAnswering::AddCandidate(std::string_view context, text::Offset bytes, float score) {
  const auto [known, is_new] = by_text_.emplace(Folded(Slice(context, bytes)), candidates_.size());
  if (is_new) {
    candidates_.push_back({score, bytes});
  } else {
    candidates_[known->second].score += score;
  }
}

std::vector<Answer> QuestionAnswering::Ranked(std::string_view context) const {
  std::vector<Candidate> candidates = candidates_;
  if (request.handle_impossible_answer) candidates.push_back({null_score_, {0, 0}});
  std::vector<float> scores;
  for (const Candidate& candidate : candidates) scores.push_back(candidate.score);
  Utf8IndexConverter index(context);
  std::vector<Answer> ranked;
  for (size_t i : BestFirst(scores, static_cast<size_t>(request.top_k))) {
    const text::Offset bytes = candidates[i].bytes;
    ranked.push_back({std::string(Slice(context, bytes)), scores[i], ToTextSpan(index, bytes)});
  }
  return ranked;
}

}  // namespace peruse

#include "core/tasks/task.h"

#include <algorithm>
#include <utility>

#include "core/base/memory.h"

namespace peruse {
namespace {

// Maximum number of rows per batch: efficient for matrix products, but few enough for a small workspace and fast cancellation. A longer
// text is a batch of its own.
constexpr size_t kBatchRows = 1024;

}  // namespace

Status Task::SetHeadMask(const std::vector<std::vector<float>>& layers) {
  const auto heads = static_cast<size_t>(model_.attention_heads());
  bool fits = layers.size() == static_cast<size_t>(model_.attention_layers()) && heads > 0;
  for (const std::vector<float>& layer : layers) {
    fits = fits && layer.size() == heads;
    head_mask_.insert(head_mask_.end(), layer.begin(), layer.end());
  }
  if (fits) return OkStatus();
  return InvalidArgument("option head_mask must be a list for each of the model's " +
                         std::to_string(model_.attention_layers()) + " layers, with a number for each of the " +
                         std::to_string(heads) + " attention heads");
}

Result<bool> Task::Step() {
  PERUSE_ASSIGN_OR_RETURN(const bool begun, BeginStep());
  if (!begun) return false;
  return EndStep();
}

Result<bool> Task::BeginStep() {
  begun_ = 0;
  size_t rows = 0;
  size_t count = 0;
  for (; done_ + count < queue_.size(); ++count) {
    const Reading& next = queue_[done_ + count];
    rows += next.tokens.size();
    // A batch contains either labels or texts.
    const bool of_kind = (next.label < 0) == (queue_[done_].label < 0);
    const bool is_alone = next.alone || !next.head.words.empty() || next.keys > 0 || queue_[done_].keys > 0;
    if (count > 0 && (rows > kBatchRows || is_alone || !of_kind)) break;
  }
  if (count == 0) return false;
  wanted_ = WantedBy(queue_[done_]);
  PERUSE_RETURN_IF_ERROR(outputs_.Begin({queue_.data() + done_, count}, wanted_, head_mask_));
  begun_ = count;
  return true;
}

Result<bool> Task::EndStep() {
  if (begun_ == 0) return InternalError("EndStep was called without a step begun");
  const size_t count = std::exchange(begun_, 0);
  PERUSE_RETURN_IF_ERROR(outputs_.Finish());
  tokens_read_ += outputs_.rows();
  PERUSE_RETURN_IF_ERROR(EnsureMemory(CollectBytesBound(count), "the results"));
  for (size_t text = 0; text < count; ++text) {
    PERUSE_RETURN_IF_ERROR(Collect(queue_[done_], text));
    const bool goes_on = next_.has_value();
    queue_[done_] = std::move(next_).value_or(Reading());  // frees the memory of the reading
    next_.reset();
    if (!goes_on) ++done_;
  }
  return !done();
}

size_t Task::CollectBytesBound(size_t count) const {
  // Upper bound of the results for one token: a copy of the outputs, and a list, a string, a label and so on.
  constexpr size_t kBytesPerToken = 1024;
  size_t floats = 0;
  // Outputs are copied only if there are several.
  if (wanted_.size() == 1) {
    for (size_t text = 0; text < count; ++text) floats += outputs_.Get(wanted_[0], text).values.size();
  }
  return SaturatingAdd(SaturatingMultiply(3 * sizeof(float), floats),
                       SaturatingMultiply(kBytesPerToken, static_cast<size_t>(outputs_.rows())));
}

Result<std::vector<text::Encoding>> Task::Encode(const TextInput& input, const text::EncodeOptions& options) const {
  if (input.pair) return tokenizer_.EncodePair(input.text, *input.pair, options);
  return tokenizer_.Encode(input.text, options);
}

Result<text::Encoding> Task::Checked(Result<std::vector<text::Encoding>> windows, size_t number,
                                     std::string_view advice) const {
  PERUSE_RETURN_IF_ERROR(windows.status());
  text::Encoding& first = windows->front();
  PERUSE_RETURN_IF_ERROR(CheckTokens(first, number, advice));
  return std::move(first);
}

Status Task::NoText(size_t number) {
  return Status(StatusCode::kEmptyText,
                "input " + std::to_string(number) +
                    " has no tokens: its text is empty, and the tokenizer adds no special tokens");
}

Status Task::CheckTokens(const text::Encoding& tokens, size_t number, std::string_view advice) const {
  return tokens.size() == 0 ? NoText(number) : CheckLength(tokens, number, advice);
}

Status Task::CheckLength(const text::Encoding& tokens, size_t number, std::string_view advice) const {
  if (tokens.size() <= static_cast<size_t>(MaxTokens())) return OkStatus();
  return Status(StatusCode::kTextTooLong, "input " + std::to_string(number) + " has " + std::to_string(tokens.size()) +
                                              " tokens and the model takes " + std::to_string(MaxTokens()) + "; " +
                                              std::string(advice));
}

void Task::Enqueue(size_t input, text::Encoding tokens, std::vector<int32_t> rows) {
  queue_.push_back({.input = input, .tokens = std::move(tokens), .rows = std::move(rows)});
}

void Task::EnqueueAll(size_t input, std::vector<text::Encoding> windows) {
  for (size_t i = 0; i < windows.size(); ++i) {
    queue_.push_back({.input = input, .number = i, .last = i + 1 == windows.size(), .tokens = std::move(windows[i])});
  }
}

int32_t Task::MaxTokens() const {
  int64_t limit = model_.config().max_tokens;
  const std::optional<int64_t> tokenizer_limit = tokenizer_.model_max_length();
  if (tokenizer_limit && *tokenizer_limit > 0) limit = std::min(limit, *tokenizer_limit);
  return static_cast<int32_t>(limit);
}

Result<int32_t> Task::Length(std::optional<int32_t> max_length, int32_t usual) const {
  if (max_length.value_or(0) <= MaxTokens()) return max_length.value_or(usual);
  return InvalidArgument("option max_length is " + std::to_string(*max_length) + " and the model takes " +
                         std::to_string(MaxTokens()) + " tokens: use at most that many");
}

text::EncodeOptions Task::CutTo(int32_t max_length, text::Truncation truncation) {
  text::EncodeOptions options;
  if (max_length == ModelConfig::kUnlimited) return options;
  options.truncation = truncation;
  options.max_length = max_length;
  return options;
}

}  // namespace peruse

#include "core/tasks/task.h"

#include <algorithm>
#include <utility>

#include "core/base/memory.h"
#include "core/tasks/feature_extraction.h"
#include "core/tasks/fill_mask.h"
#include "core/tasks/multiple_choice.h"
#include "core/tasks/question_answering.h"
#include "core/tasks/replaced_token_detection.h"
#include "core/tasks/text_classification.h"
#include "core/tasks/text_ranking.h"
#include "core/tasks/token_classification.h"
#include "core/tasks/zero_shot_classification.h"

namespace peruse {
namespace {

// Rows a batch may have: enough to keep the matrix products busy, little enough that workspace stays small and a
// caller who cancels does not wait long. A single longer text makes a batch of its own.
constexpr int32_t kBatchRows = 1024;

}  // namespace

Status Task::Start(JsonValue request) {
  queue_.clear();
  done_ = 0;
  begun_ = 0;
  const JsonValue inputs = request.FindMember("inputs");
  if (!inputs.IsArray()) return InvalidArgument("the request has no array \"inputs\"");
  return Read(inputs, request.FindMember("options"));
}

Result<bool> Task::Step() {
  PERUSE_ASSIGN_OR_RETURN(const bool begun, BeginStep());
  if (!begun) return false;
  return EndStep();
}

Result<bool> Task::BeginStep() {
  begun_ = 0;
  logit_rows_.clear();
  if (done_ == queue_.size()) return false;
  std::vector<ModelInput> batch;
  int32_t rows = 0;
  for (size_t i = done_; i < queue_.size(); ++i) {
    const auto length = static_cast<int32_t>(queue_[i].ids.size());
    if (!batch.empty() && rows + length > kBatchRows) break;
    batch.push_back({queue_[i].ids, queue_[i].type_ids});
    for (const int32_t position : RowsOf(i)) logit_rows_.push_back(rows + position);
    rows += length;
  }
  RunOptions options = run_options();
  options.logit_rows = logit_rows_;
  options.hidden_states |= HiddenState() != model_.config().num_hidden_layers;
  PERUSE_RETURN_IF_ERROR(model_.Begin(batch, options));
  begun_ = batch.size();
  return true;
}

Result<bool> Task::EndStep() {
  if (begun_ == 0) return InternalError("EndStep was called without a step begun");
  const size_t count = std::exchange(begun_, 0);
  PERUSE_RETURN_IF_ERROR(model_.Finish());
  tokens_read_ += model_.batch().rows();
  PERUSE_RETURN_IF_ERROR(EnsureMemory(CollectBytesBound(), "the results"));
  size_t first_row = 0;
  for (size_t i = 0; i < count; ++i) {
    PERUSE_RETURN_IF_ERROR(Collect(done_ + i, OutputsOf(static_cast<int32_t>(i), first_row)));
    first_row += RowsOf(done_ + i).size();
  }
  done_ += count;
  return done_ < queue_.size();
}

Result<std::string> Task::Finish() {
  if (done_ != queue_.size()) return InternalError("Finish was called before every batch had run");
  std::string json;
  JsonWriter writer(&json);
  Write(writer);
  queue_.clear();
  done_ = 0;
  if (writer.failed()) return OutOfMemory("no memory to write the results down");
  return json;
}

Status Task::CheckText(const Encoding& encoding, size_t input, std::string_view advice) const {
  const std::vector<uint8_t>& special = encoding.special_tokens_mask;
  if (std::all_of(special.begin(), special.end(), [](uint8_t mark) { return mark != 0; })) {
    return Status(StatusCode::kEmptyText,
                  "input " + std::to_string(input) + " has no text: it is empty or only white space");
  }
  if (encoding.size() > static_cast<size_t>(MaxTokens())) {
    return Status(StatusCode::kTextTooLong, "input " + std::to_string(input) + " has " +
                                                std::to_string(encoding.size()) + " tokens and the model takes " +
                                                std::to_string(MaxTokens()) + "; " + std::string(advice));
  }
  return OkStatus();
}

size_t Task::Enqueue(Encoding encoding) {
  queue_.push_back(std::move(encoding));
  return queue_.size() - 1;
}

size_t Task::CollectBytesBound() const {
  // A copy of the outputs and one more with a list for each token; a token's string, label, word and what else is told of it.
  constexpr size_t kBytesPerToken = 1024;
  const size_t outputs = model_.head() == Head::kNone ? model_.last_hidden().size() : model_.logits().size();
  return SaturatingAdd(SaturatingMultiply(3 * sizeof(float), outputs),
                       SaturatingMultiply(kBytesPerToken, static_cast<size_t>(model_.batch().rows())));
}

int32_t Task::MaxTokens() const {
  int64_t limit = model_.config().max_tokens;
  const std::optional<int64_t> tokenizer_limit = tokenizer_.model_max_length();
  if (tokenizer_limit && *tokenizer_limit > 0) limit = std::min(limit, *tokenizer_limit);
  return static_cast<int32_t>(limit);
}

std::span<const float> Task::OutputsOf(int32_t sequence, size_t first_row) const {
  const RaggedBatch& batch = model_.batch();
  const bool hidden = model_.head() == Head::kNone;
  const bool is_last = HiddenState() == model_.config().num_hidden_layers;
  const std::span<const float> outputs = !hidden   ? model_.logits()
                                         : is_last ? model_.last_hidden()
                                                   : model_.hidden_state(HiddenState());
  const auto cols = static_cast<size_t>(hidden ? model_.config().hidden_size : model_.logit_cols());
  if (!logit_rows_.empty()) {
    return outputs.subspan(first_row * cols, RowsOf(done_ + static_cast<size_t>(sequence)).size() * cols);
  }
  const bool per_text = !hidden && model_.logit_rows() == batch.sequences();
  if (per_text) return outputs.subspan(static_cast<size_t>(sequence) * cols, cols);
  return outputs.subspan(static_cast<size_t>(batch.start(sequence)) * cols,
                         static_cast<size_t>(batch.length(sequence)) * cols);
}

namespace {

struct TaskEntry {
  std::string_view name;
  Head head;
  std::unique_ptr<Task> (*create)(const Tokenizer&, Model&);
};

template <typename T>
std::unique_ptr<Task> Make(const Tokenizer& tokenizer, Model& model) {
  return std::make_unique<T>(tokenizer, model);
}

constexpr TaskEntry kTasks[] = {
    {"text-classification", Head::kSequenceClassification, Make<TextClassification>},
    {"question-answering", Head::kQuestionAnswering, Make<QuestionAnswering>},
    {"token-classification", Head::kTokenClassification, Make<TokenClassification>},
    {"fill-mask", Head::kMaskedLm, Make<FillMask>},
    {"zero-shot-classification", Head::kSequenceClassification, Make<ZeroShotClassification>},
    {"text-ranking", Head::kSequenceClassification, Make<TextRanking>},
    {"multiple-choice", Head::kMultipleChoice, Make<MultipleChoice>},
    {"replaced-token-detection", Head::kReplacedTokenDetection, Make<ReplacedTokenDetection>},
    {"feature-extraction", Head::kNone, Make<FeatureExtraction>},
};

Result<const TaskEntry*> FindTask(std::string_view name) {
  std::string known;
  for (const TaskEntry& entry : kTasks) {
    if (entry.name == name) return &entry;
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  return Unsupported("there is no task \"" + std::string(name) + "\"; Peruse has: " + known);
}

}  // namespace

Result<Head> HeadOfTask(std::string_view task) {
  PERUSE_ASSIGN_OR_RETURN(const TaskEntry* entry, FindTask(task));
  return entry->head;
}

Result<std::unique_ptr<Task>> CreateTask(std::string_view task, const Tokenizer& tokenizer, Model& model) {
  PERUSE_ASSIGN_OR_RETURN(const TaskEntry* entry, FindTask(task));
  return entry->create(tokenizer, model);
}

}  // namespace peruse

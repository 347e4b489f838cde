#include "core/model/run_checks.h"

#include <optional>
#include <string>

#include "core/heads/extraction.h"

namespace peruse {
namespace {

// Maximum number of floats in one matrix of a run (2 GiB), and in all live matrices (3 GiB), for a 32-bit address space.
constexpr int64_t kMaxElements = int64_t{1} << 29;
constexpr int64_t kMaxWorkspace = int64_t{3} << 28;

struct TokenLimits {
  int32_t vocab_size;
  int32_t type_vocab_size;
  int32_t max_tokens;
};

bool OfLabels(const RunOptions& options) { return options.outputs.size() == 1 && options.outputs[0] == kLabelVectors; }

bool OfQueries(const RunOptions& options) { return !options.outputs.empty() && IsQueries(options.outputs[0]); }

Status CheckInput(const ModelInput& input, size_t index, const TokenLimits& limits) {
  const std::string text = "text " + std::to_string(index);
  if (input.ids.empty()) return Status(StatusCode::kEmptyText, text + " has no tokens");
  if (input.ids.size() > static_cast<size_t>(limits.max_tokens)) {
    return Status(StatusCode::kTextTooLong, text + " has " + std::to_string(input.ids.size()) +
                                                " tokens; the model takes " + std::to_string(limits.max_tokens));
  }
  for (const int32_t id : input.ids) {
    if (id < 0 || id >= limits.vocab_size) {
      return InvalidArgument(text + " has the token id " + std::to_string(id) + "; the model's vocabulary has " +
                             std::to_string(limits.vocab_size));
    }
  }
  if (!input.type_ids.empty() && input.type_ids.size() != input.ids.size()) {
    return InvalidArgument(text + " has " + std::to_string(input.ids.size()) + " token ids and " +
                           std::to_string(input.type_ids.size()) + " type ids");
  }
  if (limits.type_vocab_size == 0) return OkStatus();  // ignored, as in transformers
  for (const int32_t type : input.type_ids) {
    if (type < 0 || type >= limits.type_vocab_size) {
      return InvalidArgument(text + " has the type id " + std::to_string(type) + "; the model has " +
                             std::to_string(limits.type_vocab_size) + " types");
    }
  }
  return OkStatus();
}

}  // namespace

Result<int64_t> CheckTexts(const ModelConfig& config, std::span<const ModelInput> texts, const RunOptions& options) {
  if (texts.empty()) return InvalidArgument("there are no texts");
  TokenLimits limits = {config.vocab_size, config.type_vocab_size, config.max_tokens};
  if (const std::optional<LabelEncoder>& labels = config.label_encoder; labels && OfLabels(options)) {
    limits = {labels->vocab_size, labels->type_vocab_size, labels->max_tokens};
  }
  int64_t tokens = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    PERUSE_RETURN_IF_ERROR(CheckInput(texts[i], i, limits));
    tokens += static_cast<int64_t>(texts[i].ids.size());
  }
  if (tokens > kMaxElements) return OutOfMemory("a batch of " + std::to_string(tokens) + " tokens is too large");
  return tokens;
}

Status CheckHeadInputs(const ModelConfig& config, size_t texts, const RunOptions& options) {
  const HeadInputs& head = options.head_inputs;
  if (OfLabels(options)) {
    return config.label_encoder ? OkStatus() : InvalidArgument("the model has no encoder for labels");
  }
  if (OfQueries(options)) {
    const size_t width = 2 * static_cast<size_t>(config.hidden_size);  // QueryInputs
    if (!head.labels.empty() && head.label_vectors.size() == head.labels.size() * width) return OkStatus();
    return InvalidArgument("the fields' vectors are not those of the fields");
  }
  if (config.reads_labels() == head.words.empty() || (config.reads_labels() && texts > 1)) {
    return InvalidArgument("a model that reads labels takes one text at a time, with its words and labels");
  }
  const size_t width = config.label_encoder ? static_cast<size_t>(config.label_encoder->width) : 0;
  if (head.label_vectors.size() == head.labels.size() * width) return OkStatus();
  return InvalidArgument("the labels' vectors are not those of the labels");
}

Status CheckLogitRows(Head head, std::span<const int32_t> chosen, int64_t rows) {
  if (!chosen.empty() && head != Head::kMaskedLm) {
    return InvalidArgument("logit_rows are for masked language modelling, not for " + std::string(HeadName(head)));
  }
  for (const int32_t row : chosen) {
    if (row < 0 || row >= rows) {
      return InvalidArgument("logit row " + std::to_string(row) + " is none of the batch's " + std::to_string(rows));
    }
  }
  return OkStatus();
}

Status CheckKeys(const Plan& plan, std::span<const ModelInput> inputs, int32_t keys) {
  if (inputs.size() != 1) return InvalidArgument("a limit of keys is for one text");
  const auto last = static_cast<int32_t>(inputs[0].ids.size()) - 1;
  for (const Op& op : plan.program.ops) {
    const auto* attention = std::get_if<ops::Attention>(&op);
    if (attention == nullptr) continue;
    if (attention->position_key.valid() || attention->position_query.valid()) {
      return Unsupported("a query's expansion that the encoder does not attend to is not supported for DeBERTa");
    }
    if (attention->FirstKey(last) < keys) continue;
    return Unsupported("a query's expansion is longer than the attention's window of " +
                       std::to_string(attention->before) + " tokens");
  }
  return OkStatus();
}

Status CheckSize(const Plan& plan, const BatchInputs& inputs) {
  const Sizes sizes = SizesOf(inputs);
  int64_t all = 0;
  for (const PlanSlot& slot : plan.slots) {
    const int64_t elements = sizes(slot.rows) * sizes(slot.cols);
    all += elements;
    if (elements <= kMaxElements && all <= kMaxWorkspace) continue;
    return OutOfMemory("a batch of " + std::to_string(inputs.batch.rows()) + " tokens is too large for this model");
  }
  return OkStatus();
}

}  // namespace peruse

#include "core/tasks/sentence_embedder.h"

#include <algorithm>
#include <utility>

#include "core/base/memory.h"
#include "core/base/utf8.h"
#include "core/tasks/pooling.h"
#include "core/text/unicode/unicode.h"
#include "core/weights/checkpoint.h"
#include "core/weights/float_reader.h"

namespace peruse {
namespace {

Parameters DenseParameters(const SentenceStep& step) {
  Parameters parameters;
  const auto add = [&](const char* name, int32_t rows, int32_t cols, std::vector<int64_t> shape) {
    const ParameterId id = {ParameterId::Kind::kConstant, static_cast<int32_t>(parameters.constants.size())};
    parameters.constants.push_back({rows, cols});
    parameters.tensors.push_back({.parameter = id, .names = {name}, .shape = std::move(shape)});
  };
  add("linear.weight", step.out, step.in, {step.out, step.in});
  if (step.bias) add("linear.bias", 1, step.out, {step.out});
  if (step.residual && step.in != step.out) add("residual.weight", step.out, step.in, {step.out, step.in});
  return parameters;
}

class FloatCopier : public TensorWriter {
 public:
  FloatCopier(DType type, std::vector<float>* values)
      : reader_(type, std::ssize(*values), 1, [values](int32_t first, std::span<const float> floats) {
          std::copy(floats.begin(), floats.end(), values->begin() + first);
          return OkStatus();
        }) {}
  Status Feed(std::span<const uint8_t> bytes) override { return reader_.Feed(bytes); }

 private:
  FloatReader reader_;
};

// Receives the tensors of a dense layer, indexed as in DenseParameters.
class DenseSink : public CheckpointSink {
 public:
  explicit DenseSink(std::vector<std::vector<float>*> values) : values_(std::move(values)) {}

  Result<std::unique_ptr<TensorWriter>> Open(const NeededTensor& tensor, const TensorInfo& stored, Content) override {
    std::vector<float>* const values = values_[tensor.uses[0]];
    values->resize(static_cast<size_t>(ElementCount(stored.shape)));
    return std::unique_ptr<TensorWriter>(std::make_unique<FloatCopier>(*stored.dtype, values));
  }

 private:
  const std::vector<std::vector<float>*> values_;
};

}  // namespace

Result<std::unique_ptr<SentenceEmbedder>> SentenceEmbedder::Create(SentenceModules modules, const ReadModelFile& read,
                                                                   int32_t width) {
  std::unique_ptr<SentenceEmbedder> embedder(new SentenceEmbedder(width));
  embedder->modules_ = std::move(modules);
  int64_t wide = static_cast<int64_t>(width) * static_cast<int64_t>(embedder->modules_.pooling.size());
  for (const SentenceStep& step : embedder->modules_.steps) {
    if (step.kind != SentenceStep::Kind::kDense) continue;
    if (step.in != wide) {
      return Status(StatusCode::kShapeMismatch, step.folder + " takes vectors of " + std::to_string(step.in) +
                                                    " numbers and gets " + std::to_string(wide));
    }
    PERUSE_RETURN_IF_ERROR(embedder->ReadDense(read, step));
    wide = step.out;
  }
  embedder->out_ = static_cast<size_t>(wide);
  return embedder;
}

Status SentenceEmbedder::ReadDense(const ReadModelFile& read, const SentenceStep& step) {
  for (const char* name : {"/model.safetensors", "/pytorch_model.bin"}) {
    const std::optional<std::string_view> file = read(step.folder + name);
    if (!file) continue;
    PERUSE_RETURN_IF_ERROR(EnsureMemory(SaturatingMultiply(4, file->size()), step.folder));
    Dense& dense = dense_.emplace_back();
    std::vector<std::vector<float>*> values = {&dense.weight};
    if (step.bias) values.push_back(&dense.bias);
    values.push_back(&dense.residual);
    DenseSink sink(std::move(values));
    const Parameters parameters = DenseParameters(step);
    Checkpoint checkpoint(parameters, {}, sink);
    Status status = checkpoint.Feed({reinterpret_cast<const uint8_t*>(file->data()), file->size()});
    if (status.ok()) status = checkpoint.Finish();
    return status.ok() ? status : Status(status.code(), step.folder + ": " + std::string(status.message()));
  }
  return Status(StatusCode::kNotFound, step.folder + " has neither model.safetensors nor pytorch_model.bin");
}

Result<std::string> PromptOf(const SentenceModules& modules, const std::optional<std::string>& prompt,
                             const std::optional<std::string>& name) {
  if (prompt && name) return InvalidArgument("prompt and prompt_name exclude each other");
  if (prompt) return *prompt;
  const std::optional<std::string>& wanted = name ? name : modules.default_prompt;
  if (!wanted) return std::string();
  const auto found = modules.prompts.find(*wanted);
  if (found != modules.prompts.end()) return found->second;
  std::string known;
  for (const auto& [other, text] : modules.prompts) known += (known.empty() ? "" : ", ") + other;
  return InvalidArgument("the model has no prompt \"" + *wanted + "\"; it has " + (known.empty() ? "none" : known));
}

Result<SentenceEmbedder::Reading> SentenceEmbedder::Read(const text::Tokenizer& tokenizer, const ModelConfig& config,
                                                         std::string_view prompt, std::string_view text) const {
  // sentence-transformers uses its own limit; without one, the tokenizer's limit or the number of positions in config.json.
  int64_t limit = config.max_position_embeddings;
  if (const std::optional<int64_t> other = tokenizer.model_max_length(); other && *other > 0) {
    limit = std::min(limit, *other);
  }
  if (modules_.max_seq_length) limit = *modules_.max_seq_length;
  const text::EncodeOptions options{.truncation = text::Truncation::kLongestFirst,
                                    .max_length = static_cast<int32_t>(std::min<int64_t>(limit, config.max_tokens))};
  Reading reading;
  if (!prompt.empty() && !modules_.include_prompt) {
    PERUSE_ASSIGN_OR_RETURN(const std::vector<text::Encoding> alone,
                            tokenizer.Encode(Cased(tokenizer, std::string(prompt)), options));
    const text::Encoding& tokens = alone[0];
    reading.skip = tokens.size() - (tokens.size() > 0 && tokens.special_tokens_mask.back() != 0 ? 1 : 0);
  }
  const std::string whole = std::string(prompt) + std::string(text);
  PERUSE_ASSIGN_OR_RETURN(std::vector<text::Encoding> windows, tokenizer.Encode(Cased(tokenizer, whole), options));
  reading.tokens = std::move(windows[0]);
  if (reading.skip > 0 && reading.skip >= reading.tokens.size()) {
    return InvalidArgument("the prompt leaves no room for a text: the model reads " +
                           std::to_string(options.max_length) + " tokens");
  }
  return reading;
}

std::string SentenceEmbedder::Cased(const text::Tokenizer& tokenizer, std::string text) const {
  // leaves invalid UTF-8 to the tokenizer, which reports it
  if (!modules_.do_lower_case || !IsValidUtf8(text)) return text;
  std::vector<std::string> special;
  for (const int32_t id :
       {tokenizer.cls_id(), tokenizer.sep_id(), tokenizer.mask_id(), tokenizer.pad_id(), tokenizer.unk_id()}) {
    if (const Result<std::string> token = tokenizer.IdToToken(id); token.ok() && !token->empty())
      special.push_back(*token);
  }
  std::string lower;
  lower.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    const auto found =
        std::find_if(special.begin(), special.end(), [&](const auto& token) { return rest.starts_with(token); });
    if (found != special.end()) {
      lower += *found;
      at += found->size();
      continue;
    }
    const text::LowerCase letters = text::ToLower(DecodeUtf8(text, &at));
    AppendUtf8(letters.first, &lower);
    if (letters.second != 0) AppendUtf8(letters.second, &lower);
  }
  return lower;
}

std::vector<float> SentenceEmbedder::Embed(std::span<const float> tokens, size_t skip) const {
  std::vector<float> vector = PoolTokens(modules_.pooling, tokens, static_cast<size_t>(width_), skip);
  size_t dense = 0;
  for (const SentenceStep& step : modules_.steps) {
    if (step.kind == SentenceStep::Kind::kNormalize) {
      NormalizeVector(vector);
      continue;
    }
    const Dense& layer = dense_[dense++];
    std::vector<float> next = ApplyDense(vector, layer.weight, layer.bias, step.activation);
    if (!layer.residual.empty()) vector = ApplyDense(vector, layer.residual, {}, DenseActivation::kIdentity);
    for (size_t i = 0; step.residual && i < next.size(); ++i) next[i] += vector[i];
    vector = std::move(next);
  }
  return vector;
}

}  // namespace peruse

#include "core/tasks/sentence_embedder.h"

#include <algorithm>
#include <utility>

#include "core/base/memory.h"
#include "core/base/utf8.h"
#include "core/tasks/pooling.h"
#include "core/text/unicode.h"
#include "core/weights/float_reader.h"
#include "core/weights/weights_parser.h"

namespace peruse {
namespace {

// The two tensors of a dense layer.
class DenseTensors : public TensorVisitor {
 public:
  DenseTensors(const SentenceStep& step, std::vector<float>* weight, std::vector<float>* bias)
      : step_(step), weight_(weight), bias_(bias) {}

  Status OnHeader(std::span<const TensorInfo> tensors) override {
    tensors_.assign(tensors.begin(), tensors.end());
    bytes_.resize(tensors_.size());
    return OkStatus();
  }
  Status OnData(size_t index, std::span<const uint8_t> bytes) override {
    bytes_[index].insert(bytes_[index].end(), bytes.begin(), bytes.end());
    return OkStatus();
  }
  Status Finish() {
    PERUSE_RETURN_IF_ERROR(Take("linear.weight", {step_.out, step_.in}, weight_));
    return step_.bias ? Take("linear.bias", {step_.out}, bias_) : OkStatus();
  }

 private:
  Status Take(std::string_view name, const std::vector<int64_t>& shape, std::vector<float>* values) {
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const TensorInfo& info = tensors_[i];
      if (info.name != name) continue;
      if (!info.dtype || !IsFloatDType(*info.dtype) || info.shape != shape) {
        return Status(StatusCode::kShapeMismatch, step_.folder + ": " + info.name + " is " + info.dtype_name +
                                                      ShapeString(info.shape) + " and must be floats of " +
                                                      ShapeString(shape));
      }
      values->resize(bytes_[i].size() / static_cast<size_t>(DTypeSize(*info.dtype)));
      ConvertToFloat(*info.dtype, bytes_[i], *values);
      return OkStatus();
    }
    return Status(StatusCode::kMissingTensor, step_.folder + " has no " + std::string(name));
  }

  const SentenceStep& step_;
  std::vector<float>* weight_;
  std::vector<float>* bias_;
  std::vector<TensorInfo> tensors_;
  std::vector<std::vector<uint8_t>> bytes_;
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
    DenseTensors tensors(step, &dense.weight, &dense.bias);
    WeightsParser parser(tensors);
    PERUSE_RETURN_IF_ERROR(parser.Feed({reinterpret_cast<const uint8_t*>(file->data()), file->size()}));
    PERUSE_RETURN_IF_ERROR(parser.Finish());
    return tensors.Finish();
  }
  return Status(StatusCode::kNotFound, step.folder + " has neither model.safetensors nor pytorch_model.bin");
}

Result<std::string> SentenceEmbedder::Prompt(const std::optional<std::string>& prompt,
                                             const std::optional<std::string>& name) const {
  if (prompt && name) return InvalidArgument("prompt and prompt_name exclude each other");
  if (prompt) return *prompt;
  const std::optional<std::string>& wanted = name ? name : modules_.default_prompt;
  if (!wanted) return std::string();
  const auto found = modules_.prompts.find(*wanted);
  if (found != modules_.prompts.end()) return found->second;
  std::string known;
  for (const auto& [other, text] : modules_.prompts) known += (known.empty() ? "" : ", ") + other;
  return InvalidArgument("the model has no prompt \"" + *wanted + "\"; it has " + (known.empty() ? "none" : known));
}

Result<SentenceEmbedder::Reading> SentenceEmbedder::Read(const text::Tokenizer& tokenizer, const ModelConfig& config,
                                                         std::string_view prompt, std::string_view text) const {
  // The library cuts to its own limit, or else to the tokenizer's and the positions of config.json.
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
                            tokenizer.Encode(Cased(std::string(prompt)), options));
    const text::Encoding& tokens = alone[0];
    reading.skip = tokens.size() - (tokens.size() > 0 && tokens.special_tokens_mask.back() != 0 ? 1 : 0);
  }
  const std::string whole = std::string(prompt) + std::string(text);
  PERUSE_ASSIGN_OR_RETURN(std::vector<text::Encoding> windows, tokenizer.Encode(Cased(whole), options));
  reading.tokens = std::move(windows[0]);
  if (reading.skip > 0 && reading.skip >= reading.tokens.size()) {
    return InvalidArgument("the prompt leaves no room for a text: the model reads " +
                           std::to_string(options.max_length) + " tokens");
  }
  return reading;
}

std::string SentenceEmbedder::Cased(std::string text) const {
  if (!modules_.do_lower_case || !IsValidUtf8(text)) return text;  // The tokenizer says what is not valid.
  std::string lower;
  lower.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
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
    vector = ApplyDense(vector, layer.weight, layer.bias, step.activation);
  }
  return vector;
}

}  // namespace peruse

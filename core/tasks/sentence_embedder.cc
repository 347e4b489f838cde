#include "core/tasks/sentence_embedder.h"

#include <algorithm>
#include <utility>

#include "core/base/utf8.h"
#include "core/tasks/model_files.h"
#include "core/tasks/pooling.h"
#include "core/text/unicode/unicode.h"

namespace peruse {

Result<std::unique_ptr<SentenceEmbedder>> SentenceEmbedder::Create(SentenceModules modules, const ReadModelFile& read,
                                                                   int32_t width) {
  std::unique_ptr<SentenceEmbedder> embedder(new SentenceEmbedder(width));
  embedder->modules_ = std::move(modules);
  const bool pools = !embedder->modules_.multi_vector;
  int64_t wide = int64_t{width} * (pools ? std::ssize(embedder->modules_.pooling) : 1);
  for (SentenceStep& step : embedder->modules_.steps) {
    if (step.kind != SentenceStep::Kind::kDense) continue;
    if (step.in == 0) step.in = static_cast<int32_t>(wide);
    if (step.out == 0) step.out = static_cast<int32_t>(wide);
    if (step.in != wide) {
      return Status(StatusCode::kShapeMismatch, step.folder + " takes vectors of " + std::to_string(step.in) +
                                                    " numbers and gets " + std::to_string(wide));
    }
    PERUSE_RETURN_IF_ERROR(embedder->ReadDense(read, step));
    wide = step.out;
  }
  embedder->out_ = static_cast<size_t>(wide);
  if (const std::optional<SparseCoding>& coding = embedder->modules_.coding) {
    if (coding->in != wide) {
      return Status(StatusCode::kShapeMismatch, coding->folder + " takes vectors of " + std::to_string(coding->in) +
                                                    " numbers and gets " + std::to_string(wide));
    }
    PERUSE_ASSIGN_OR_RETURN(embedder->coder_, SparseCoder::Create(read, *coding));
  }
  if (!embedder->modules_.query_folder.empty()) {
    PERUSE_ASSIGN_OR_RETURN(embedder->query_weights_, TokenWeights::Create(read, embedder->modules_));
  }
  if (embedder->modules_.query) {
    PERUSE_ASSIGN_OR_RETURN(embedder->queries_, Create(*embedder->modules_.query, read, width));
  }
  return embedder;
}

const SentenceEmbedder& SentenceEmbedder::For(std::optional<TextRole> role) const {
  const bool queries = role ? *role == TextRole::kQuery : modules_.queries_by_default;
  return queries && queries_ ? *queries_ : *this;
}

Status SentenceEmbedder::ReadDense(const ReadModelFile& read, const SentenceStep& step) {
  Dense& dense = dense_.emplace_back();
  const std::vector<int64_t> shape = {step.out, step.in};
  std::vector<ModuleTensor> tensors = {{"linear.weight", shape, &dense.weight, "weight"}};
  if (step.bias) tensors.push_back({"linear.bias", {step.out}, &dense.bias, "bias"});
  if (step.residual && step.in != step.out) tensors.push_back({"residual.weight", shape, &dense.residual});
  return ReadModuleWeights(read, step.folder, tensors);
}

Result<std::string> PromptOf(const SentenceModules& modules, const std::optional<std::string>& prompt,
                             const std::optional<std::string>& name, std::optional<TextRole> role) {
  if (prompt && name) return InvalidArgument("prompt and prompt_name exclude each other");
  if (prompt) return *prompt;
  if (role && !name) {
    const auto own = modules.prompts.find(*role == TextRole::kQuery ? "query" : "document");
    return own == modules.prompts.end() ? std::string() : own->second;
  }
  const std::optional<std::string>& wanted = name ? name : modules.default_prompt;
  if (!wanted) return std::string();
  const auto found = modules.prompts.find(*wanted);
  if (found != modules.prompts.end()) return found->second;
  std::string known;
  for (const auto& [other, text] : modules.prompts) known += (known.empty() ? "" : ", ") + other;
  return InvalidArgument("the model has no prompt \"" + *wanted + "\"; it has " + (known.empty() ? "none" : known));
}

int32_t SentenceEmbedder::Limit(const text::Tokenizer& tokenizer, const ModelConfig& config,
                                std::optional<TextRole> role) const {
  // sentence-transformers uses its own limit; without one, the tokenizer's limit or the number of positions in config.json.
  int64_t limit = config.max_position_embeddings;
  if (const std::optional<int64_t> other = tokenizer.model_max_length(); other && *other > 0) {
    limit = std::min(limit, *other);
  }
  if (modules_.max_seq_length) limit = *modules_.max_seq_length;
  if (role && modules_.multi_vector) {
    const MultiVector& vectors = *modules_.multi_vector;
    limit = (*role == TextRole::kQuery ? vectors.query_length : vectors.document_length).value_or(limit);
  }
  return static_cast<int32_t>(std::min<int64_t>(limit, config.max_tokens));
}

Result<SentenceEmbedder::Reading> SentenceEmbedder::Read(const text::Tokenizer& tokenizer, const ModelConfig& config,
                                                         std::string_view prompt, std::string_view text) const {
  const text::EncodeOptions options{.truncation = text::Truncation::kLongestFirst,
                                    .max_length = Limit(tokenizer, config, std::nullopt)};
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
  return ApplySteps(PoolTokens(modules_.pooling, tokens, static_cast<size_t>(width_), skip));
}

std::vector<float> SentenceEmbedder::WeighTokens(const text::Tokenizer& tokenizer, std::span<const int32_t> ids,
                                                 std::span<const float> tokens, int32_t size) const {
  const auto width = static_cast<size_t>(width_);
  std::vector<float> weights(static_cast<size_t>(size));
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::span<const float> token = tokens.subspan(i * width, width);
    float& weight = weights[static_cast<size_t>(ids[i])];
    weight = std::max(weight, ApplySteps({token.begin(), token.end()})[0]);
  }
  for (const int32_t id : {tokenizer.cls_id(), tokenizer.sep_id(), tokenizer.pad_id(), tokenizer.unk_id()}) {
    if (id >= 0 && id < size) weights[static_cast<size_t>(id)] = 0;
  }
  return weights;
}

std::vector<float> SentenceEmbedder::ApplySteps(std::vector<float> vector) const {
  size_t dense = 0;
  for (const SentenceStep& step : modules_.steps) {
    if (step.kind == SentenceStep::Kind::kNormalize) {
      NormalizeVector(vector);
      continue;
    }
    const Dense& layer = dense_[dense++];
    std::vector<float> next = ApplyDense(vector, layer.weight, layer.bias, step.activation);
    if (!layer.residual.empty()) vector = ApplyDense(vector, layer.residual, {}, Activation::kNone);
    for (size_t i = 0; step.residual && i < next.size(); ++i) next[i] += vector[i];
    vector = std::move(next);
  }
  return vector;
}

}  // namespace peruse

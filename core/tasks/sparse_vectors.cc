#include "core/tasks/sparse_vectors.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/tasks/model_files.h"
#include "core/tasks/pooling.h"

namespace peruse {
namespace {

constexpr const char* kTokenizerFiles[] = {
    "tokenizer.json",          "tokenizer_config.json",   "vocab.txt",        "vocab.json", "merges.txt", "spm.model",
    "sentencepiece.bpe.model", "special_tokens_map.json", "added_tokens.json"};

constexpr double kEpsilon = 1e-5;

// Subtracts the mean and divides by the standard deviation, of which the sum of squares is divided by one less than the count.
void Standardise(std::vector<float>& x) {
  const auto count = static_cast<double>(x.size());
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / count;
  double squares = 0;
  for (const float value : x) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / (count - 1)) + kEpsilon;
  for (float& value : x) value = static_cast<float>((value - mean) / deviation);
}

}  // namespace

Result<std::unique_ptr<TokenWeights>> TokenWeights::Create(const ReadModelFile& read, const SentenceModules& modules) {
  const std::string& folder = modules.query_folder;
  text::TokenizerFiles files;
  for (const char* name : kTokenizerFiles) {
    if (const auto file = read(folder + "/" + name)) files.emplace(name, *file);
  }
  PERUSE_ASSIGN_OR_RETURN(std::unique_ptr<text::Tokenizer> tokenizer, text::Tokenizer::Create(files));
  std::unique_ptr<TokenWeights> made(new TokenWeights(std::move(tokenizer)));
  const int32_t tokens = made->tokenizer_->vocab_size();
  if (!modules.query_table) {
    PERUSE_RETURN_IF_ERROR(ReadModuleWeights(read, folder, {{"weight", {tokens}, &made->weights_}}));
    return made;
  }
  made->weights_.assign(static_cast<size_t>(tokens), 0.0f);
  // As in transformers, a token that the tokenizer lacks is the unknown token.
  const int32_t unknown = made->tokenizer_->unk_id();
  for (const auto& [token, weight] : *modules.query_table) {
    const int32_t id = made->tokenizer_->TokenToId(token).value_or(unknown);
    if (id >= 0) made->weights_[static_cast<size_t>(id)] = weight;
  }
  return made;
}

Result<text::Encoding> TokenWeights::Read(std::string_view text) const {
  text::EncodeOptions options = {.add_special_tokens = false};
  if (const auto limit = tokenizer_->model_max_length(); limit && *limit > 0) {
    options.truncation = text::Truncation::kLongestFirst;
    options.max_length = static_cast<int32_t>(std::min<int64_t>(*limit, INT32_MAX));
  }
  PERUSE_ASSIGN_OR_RETURN(std::vector<text::Encoding> windows, tokenizer_->Encode(text, options));
  return std::move(windows[0]);
}

std::vector<float> TokenWeights::WeightsOf(std::span<const int32_t> ids) const {
  std::vector<float> result(weights_.size(), 0.0f);
  for (const int32_t id : ids) {
    const auto at = static_cast<size_t>(id);
    if (at < result.size()) result[at] = weights_[at];
  }
  return result;
}

Result<std::unique_ptr<SparseCoder>> SparseCoder::Create(const ReadModelFile& read, const SparseCoding& coding) {
  std::unique_ptr<SparseCoder> coder(new SparseCoder(coding));
  PERUSE_RETURN_IF_ERROR(
      ReadModuleWeights(read, coding.folder,
                        {{"pre_bias", {coding.in}, &coder->pre_bias_},
                         {"decoder.linear.weight", {coding.out, coding.in}, &coder->weight_, "encoder.weight"},
                         {"latent_bias", {coding.out}, &coder->latent_bias_}}));
  return coder;
}

std::vector<float> SparseCoder::Encode(std::vector<float> vector, std::optional<int32_t> most) const {
  if (coding_.normalizes) Standardise(vector);
  for (size_t i = 0; i < vector.size(); ++i) vector[i] -= pre_bias_[i];
  std::vector<float> latents = ApplyDense(vector, weight_, latent_bias_, Activation::kNone);
  std::vector<size_t> order(latents.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const size_t kept = std::min(order.size(), static_cast<size_t>(most.value_or(coding_.active)));
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(kept);
  std::partial_sort(order.begin(), end, order.end(),
                    [&](size_t a, size_t b) { return latents[a] != latents[b] ? latents[a] > latents[b] : a < b; });
  std::vector<float> result(latents.size());
  for (auto at = order.begin(); at != end; ++at) result[*at] = std::max(latents[*at], 0.0f);
  return result;
}

}  // namespace peruse

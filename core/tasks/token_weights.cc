#include "core/tasks/token_weights.h"

#include <algorithm>
#include <utility>

#include "core/tasks/module_weights.h"

namespace peruse {
namespace {

constexpr const char* kTokenizerFiles[] = {
    "tokenizer.json",          "tokenizer_config.json",   "vocab.txt",        "vocab.json", "merges.txt", "spm.model",
    "sentencepiece.bpe.model", "special_tokens_map.json", "added_tokens.json"};

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

}  // namespace peruse

#include "core/tasks/feature_extraction.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <utility>

#include "core/tasks/pooling.h"

namespace peruse {
namespace {

PoolingMode ModeOf(Pooling pooling) {
  if (pooling == Pooling::kCls) return PoolingMode::kCls;
  if (pooling == Pooling::kLastToken) return PoolingMode::kLastToken;
  return pooling == Pooling::kMax ? PoolingMode::kMax : PoolingMode::kMean;
}

}  // namespace

// Rejects options that are for dense vectors only.
Status FeatureExtraction::CheckSparse() {
  if (sentence_ == nullptr || !sentence_->modules().gives_sparse()) {
    return InvalidArgument(
        "pooling \"splade\" needs the folder of a SparseEncoder, or a model that was loaded with pooling: \"splade\"");
  }
  pooling_ = Pooling::kSplade;
  if (request.dimensions) return InvalidArgument("option dimensions is for dense vectors: use top_k");
  if (request.layer != -1) return InvalidArgument("option layer is for dense vectors");
  if (request.normalize) return InvalidArgument("option normalize is for dense vectors");
  PERUSE_ASSIGN_OR_RETURN(prompt_, PromptOf(sentence_->modules(), request.prompt, request.prompt_name, request.role));
  if (sentence_->modules().sparse) output_ = kLogits;
  if (!request.top_k) request.top_k = sentence_->modules().max_active_dims;
  return OkStatus();
}

// Rejects options that are for one vector per text.
Status FeatureExtraction::CheckMultiVector() {
  if (sentence_ == nullptr || !sentence_->modules().multi_vector) {
    return InvalidArgument(
        "pooling \"multi_vector\" needs the folder of a late-interaction model (ColBERT), or a model that was "
        "loaded with pooling: \"multi_vector\"");
  }
  pooling_ = Pooling::kMultiVector;
  width_ = sentence_->width();
  if (request.dimensions) return InvalidArgument("option dimensions is for models with one vector for each text");
  if (request.layer != -1) return InvalidArgument("option layer does not go with pooling \"multi_vector\"");
  PERUSE_ASSIGN_OR_RETURN(prompt_, PromptOf(sentence_->modules(), request.prompt, request.prompt_name, request.role));
  if (sentence_->modules().multi_vector->projection > 0) output_ = kLogits;
  return OkStatus();
}

Status FeatureExtraction::CheckPooling() {
  const bool has_prompt = request.prompt || request.prompt_name || request.role;
  if (request.pooling == Pooling::kSplade) return CheckSparse();
  if (request.top_k) return InvalidArgument("option top_k is for sparse vectors");
  if (request.pooling == Pooling::kMultiVector) return CheckMultiVector();
  pooling_ = request.pooling.value_or(has_prompt ? Pooling::kSentence : Pooling::kNone);
  width_ = static_cast<size_t>(model_.config().hidden_size);
  if (pooling_ == Pooling::kSentence) {
    if (sentence_ == nullptr)
      return InternalError("the sentence-transformers files of the model's folder were not read");
    PERUSE_ASSIGN_OR_RETURN(prompt_, PromptOf(sentence_->modules(), request.prompt, request.prompt_name, request.role));
    if (sentence_->modules().gives_sparse())
      return InvalidArgument("the model gives sparse vectors: pass pooling \"splade\"");
    if (sentence_->modules().multi_vector) {
      return InvalidArgument("the model gives a matrix for each text: pass pooling \"multi_vector\"");
    }
    width_ = sentence_->width();
    const std::optional<int32_t> usual = sentence_->modules().truncate_dim;
    if (usual && !request.dimensions) width_ = std::min(width_, static_cast<size_t>(*usual));
  } else if (has_prompt) {
    return InvalidArgument("prompt, prompt_name and task need pooling \"sentence\", \"splade\" or \"multi_vector\"");
  }
  if (!request.dimensions) return OkStatus();
  const auto dimensions = static_cast<size_t>(*request.dimensions);
  if (pooling_ == Pooling::kNone) return InvalidArgument("option dimensions needs a pooling other than \"none\"");
  if (dimensions > width_) {
    return InvalidArgument("option dimensions is " + std::to_string(dimensions) + " and a vector has " +
                           std::to_string(width_) + " numbers: use at most that many");
  }
  width_ = dimensions;
  return OkStatus();
}

Status FeatureExtraction::EnqueueSentence(size_t input) {
  const std::string& text = request.inputs[input];
  const bool has_rows = pooling_ == Pooling::kMultiVector;
  PERUSE_ASSIGN_OR_RETURN(SentenceEmbedder::Reading reading,
                          has_rows ? sentence_->ReadRows(tokenizer_, model_.config(), request.role, prompt_ + text)
                                   : sentence_->Read(tokenizer_, model_.config(), prompt_, text));
  // no truncation happens here: the text has already been cut to the folder's limit
  skips_.push_back(reading.skip);
  return EnqueueTokens(input, std::move(reading.tokens), reading.keys);
}

Status FeatureExtraction::EnqueueTokens(size_t input, text::Encoding tokens, int32_t keys) {
  if (tokens.size() > 0) {
    Enqueue({.input = input, .tokens = std::move(tokens), .keys = keys});
    return OkStatus();
  }
  if (model_.config().num_hidden_layers > 0) return NoText(input);
  Features zeros = {.dims = {static_cast<int64_t>(width_)}, .values = std::vector<float>(width_)};
  if (pooling_ == Pooling::kNone) zeros = {.dims = {0, static_cast<int64_t>(width_)}, .values = {}};
  Give(input, std::move(zeros));
  return OkStatus();
}

Status FeatureExtraction::Start() {
  const int32_t layers = model_.config().num_hidden_layers;
  const int32_t layer = request.layer < 0 ? request.layer + layers + 1 : request.layer;
  if (layer < 0 || layer > layers) {
    return InvalidArgument("option layer is " + std::to_string(request.layer) + " and the model has " +
                           std::to_string(layers) + " layers: name one from " + std::to_string(-layers - 1) + " to " +
                           std::to_string(layers));
  }
  output_ = {OutputKind::kHidden, layer};
  const bool lacks_role = sentence_ != nullptr && sentence_->modules().needs_role && !request.role;
  if (sentence_ != nullptr) sentence_ = &sentence_->For(request.role);
  PERUSE_RETURN_IF_ERROR(CheckPooling());
  const bool uses_modules =
      pooling_ == Pooling::kSentence || pooling_ == Pooling::kSplade || pooling_ == Pooling::kMultiVector;
  if (lacks_role && uses_modules) {
    return InvalidArgument("the model's Router has no default route: pass task, \"query\" or \"document\"");
  }
  if (pooling_ == Pooling::kSplade && sentence_->query_weights() != nullptr) {
    const bool queries = request.role ? *request.role == TextRole::kQuery : sentence_->modules().queries_by_default;
    if (queries) return GiveQueries(*sentence_->query_weights());
  }
  const text::EncodeOptions options =
      request.truncation ? CutTo(MaxTokens(), text::Truncation::kLongestFirst) : text::EncodeOptions();
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    if (uses_modules) {
      PERUSE_RETURN_IF_ERROR(EnqueueSentence(i));
      continue;
    }
    PERUSE_ASSIGN_OR_RETURN(std::vector<text::Encoding> windows, tokenizer_.Encode(request.inputs[i], options));
    PERUSE_RETURN_IF_ERROR(CheckLength(windows[0], i, "pass truncation: true to read only its beginning"));
    PERUSE_RETURN_IF_ERROR(EnqueueTokens(i, std::move(windows[0])));
  }
  return OkStatus();
}

// Encodes queries without running the model.
Status FeatureExtraction::GiveQueries(const TokenWeights& table) {
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    PERUSE_ASSIGN_OR_RETURN(const text::Encoding tokens, table.Read(prompt_ + request.inputs[i]));
    Give(i, Sparse(table.WeightsOf(tokens.ids), &table.tokenizer()));
  }
  return OkStatus();
}

// Keeps the weights with the largest absolute values, and returns the largest first. Ties are in the order of ids. Without a tokenizer, the
// weights are not those of tokens.
Features FeatureExtraction::Sparse(std::span<const float> weights, const text::Tokenizer* tokenizer) const {
  std::vector<int32_t> ids;
  for (size_t id = 0; id < weights.size(); ++id) {
    if (weights[id] != 0) ids.push_back(static_cast<int32_t>(id));
  }
  const auto weight = [&](int32_t id) { return weights[static_cast<size_t>(id)]; };
  const size_t kept = std::min(ids.size(), static_cast<size_t>(request.top_k.value_or(INT32_MAX)));
  const auto sort = [&](bool by_size) {
    const auto key = [&](int32_t id) { return by_size ? std::abs(weight(id)) : weight(id); };
    std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(kept), ids.end(),
                      [&](int32_t a, int32_t b) { return key(a) != key(b) ? key(a) > key(b) : a < b; });
    ids.resize(kept);
  };
  sort(/*by_size=*/true);
  sort(/*by_size=*/false);
  Features features = {.dims = {static_cast<int64_t>(weights.size())}, .is_sparse = true};
  for (const int32_t id : ids) {
    features.values.push_back(weight(id));
    // A decoder may have more rows than the tokenizer has tokens.
    const Result<std::string> token = tokenizer != nullptr ? tokenizer->IdToToken(id) : std::string();
    features.tokens.push_back(token.ok() ? *token : std::string());
  }
  features.indices = std::move(ids);
  return features;
}

Status FeatureExtraction::Collect(const Reading& reading, size_t text) {
  const Matrix hidden = outputs_.Get(output_, text);
  if (pooling_ == Pooling::kSplade) {
    if (sentence_->modules().weighs_tokens) {
      const std::vector<float> weights =
          sentence_->WeighTokens(tokenizer_, reading.tokens.ids, hidden.values, model_.config().vocab_size);
      Give(reading.input, Sparse(weights, &tokenizer_));
    } else if (const SparseCoder* const coder = sentence_->coder(); coder != nullptr) {
      const std::vector<float> vector = sentence_->Embed(hidden.values, skips_[reading.input]);
      Give(reading.input, Sparse(coder->Encode(vector, request.top_k), nullptr));
    } else {
      Give(reading.input, Sparse(hidden.values, &tokenizer_));
    }
    return OkStatus();
  }
  Features features;
  if (pooling_ == Pooling::kMultiVector) {
    PERUSE_ASSIGN_OR_RETURN(features.values,
                            sentence_->EmbedRows(tokenizer_, request.role, reading.tokens.ids, hidden.values));
    features.dims.push_back(static_cast<int64_t>(features.values.size() / width_));
  } else if (pooling_ == Pooling::kSentence) {
    features.values = sentence_->Embed(hidden.values, skips_[reading.input]);
  } else if (pooling_ == Pooling::kNone) {
    features.values.assign(hidden.values.begin(), hidden.values.end());
  } else {
    const PoolingMode mode = ModeOf(pooling_);
    features.values = PoolTokens({&mode, 1}, hidden.values, hidden.cols);
  }
  if (pooling_ == Pooling::kNone) {
    features.dims.push_back(static_cast<int64_t>(reading.tokens.size()));
  } else if (pooling_ != Pooling::kMultiVector) {
    features.values.resize(width_);
  }
  features.dims.push_back(static_cast<int64_t>(width_));
  for (size_t at = 0; request.normalize && at < features.values.size(); at += width_) {
    NormalizeVector({&features.values[at], width_});
  }
  Give(reading.input, std::move(features));
  return OkStatus();
}

}  // namespace peruse

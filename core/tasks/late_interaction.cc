// Late interaction: completes queries, and turns token vectors into the matrix of a text (sentence-transformers' MultiVectorEncoder).
#include <algorithm>
#include <utility>

#include "core/tasks/pooling.h"
#include "core/tasks/row_clusters.h"
#include "core/tasks/sentence_embedder.h"

namespace peruse {
namespace {

// The token of a marker (MultiVector::markers) at the beginning of a text. If the tokenizer lacks a token for the whole marker, it is that
// for the part before the space.
struct Marker {
  int32_t id = -1;    // -1 if the text does not begin with a marker
  size_t length = 0;  // number of bytes that the token replaces
};

Marker MarkerOf(const MultiVector& vectors, const text::Tokenizer& tokenizer, std::string_view text) {
  for (const std::string_view marker : vectors.markers) {
    for (const std::string_view token : {marker, marker.substr(0, marker.find(' '))}) {
      const std::optional<int32_t> id = text.starts_with(token) ? tokenizer.TokenToId(token) : std::nullopt;
      if (id) return {*id, token.size()};
    }
  }
  return {};
}

std::ptrdiff_t SpecialTokensBefore(const text::Encoding& tokens) {
  const auto begin = tokens.special_tokens_mask.begin();
  return std::find(begin, tokens.special_tokens_mask.end(), uint8_t{0}) - begin;
}

void Insert(int32_t id, std::ptrdiff_t at, text::Encoding* tokens) {
  at = std::min(at, std::ssize(tokens->ids));
  const auto insert = [&](auto& list, auto value) { list.insert(list.begin() + at, value); };
  insert(tokens->ids, id);
  insert(tokens->type_ids, 0);
  insert(tokens->word_ids, -1);
  insert(tokens->sequence_ids, int8_t{-1});
  insert(tokens->special_tokens_mask, uint8_t{1});
  insert(tokens->offsets, text::Offset{});
}

Result<int32_t> ExpansionId(const QueryExpansion& expansion, const text::Tokenizer& tokenizer) {
  if (expansion.cuts && tokenizer.pads_left()) {
    return Unsupported(
        "tokenizer_config.json: padding_side \"left\" is not supported in a model that completes queries");
  }
  // A tokenizer of Gemma has the token <mask>, also if no file says that it is the mask.
  const int32_t other = tokenizer.TokenToId("<mask>").value_or(tokenizer.eos_id());
  const int32_t usual = tokenizer.mask_id() >= 0 ? tokenizer.mask_id() : other;
  const std::optional<int32_t> id =
      expansion.token.empty() ? std::optional(usual) : tokenizer.TokenToId(expansion.token);
  if (id && *id >= 0) return *id;
  return Unsupported("the tokenizer does not have the token that completes queries, " +
                     (expansion.token.empty() ? std::string("a mask or an end") : "\"" + expansion.token + "\""));
}

std::vector<int32_t> SkippedIds(const MultiVector& vectors, const text::Tokenizer& tokenizer) {
  std::vector<int32_t> ids;
  for (const std::string& word : vectors.skipped_words) {
    const std::optional<int32_t> id = tokenizer.TokenToId(word);
    if (id) ids.push_back(*id);
  }
  return ids;
}

}  // namespace

Result<SentenceEmbedder::Reading> SentenceEmbedder::ReadRows(const text::Tokenizer& tokenizer,
                                                             const ModelConfig& config, std::optional<TextRole> role,
                                                             const std::string& text) const {
  const MultiVector& vectors = *modules_.multi_vector;
  const QueryExpansion* expansion = role == TextRole::kQuery && vectors.expansion ? &*vectors.expansion : nullptr;
  int32_t limit = Limit(tokenizer, config, role);
  if (expansion != nullptr && expansion->cuts) limit = expansion->length;
  if (expansion != nullptr && vectors.query_length) limit = std::max(limit, expansion->length);
  const Marker marker = MarkerOf(vectors, tokenizer, text);
  if (marker.id >= 0) --limit;
  const text::EncodeOptions options{.truncation = text::Truncation::kLongestFirst, .max_length = limit};
  PERUSE_ASSIGN_OR_RETURN(std::vector<text::Encoding> windows,
                          tokenizer.Encode(Cased(tokenizer, text.substr(marker.length)), options));
  Reading reading = {.tokens = std::move(windows[0])};
  if (marker.id >= 0) {
    // From the marker alone, because the text may be empty, or nothing of it may fit.
    PERUSE_ASSIGN_OR_RETURN(const std::vector<text::Encoding> alone, tokenizer.Encode(text.substr(0, marker.length)));
    Insert(marker.id, SpecialTokensBefore(alone[0]), &reading.tokens);
  }
  const size_t length = reading.tokens.size();
  if (expansion == nullptr || length >= static_cast<size_t>(expansion->length)) return reading;
  PERUSE_ASSIGN_OR_RETURN(const int32_t id, ExpansionId(*expansion, tokenizer));
  const auto added = static_cast<size_t>(expansion->length);
  if (!reading.tokens.Reserve(added)) return OutOfMemory("no memory for a query");
  while (reading.tokens.size() < added) reading.tokens.Append(id, 0, -1, -1, 1, {});
  if (!expansion->attended) reading.keys = static_cast<int32_t>(length);
  return reading;
}

Result<std::vector<float>> SentenceEmbedder::EmbedRows(const text::Tokenizer& tokenizer, std::optional<TextRole> role,
                                                       std::span<const int32_t> ids,
                                                       std::span<const float> tokens) const {
  const MultiVector& vectors = *modules_.multi_vector;
  const bool is_query = role == TextRole::kQuery;
  std::vector<int32_t> skipped;
  if (is_query ? vectors.skips_queries : vectors.skips_documents) skipped = SkippedIds(vectors, tokenizer);
  const auto width = static_cast<size_t>(width_);
  std::vector<float> rows;
  for (auto i = static_cast<size_t>(vectors.omitted_rows); i < ids.size(); ++i) {
    if (std::find(skipped.begin(), skipped.end(), ids[i]) != skipped.end()) continue;
    const std::span<const float> token = tokens.subspan(i * width, width);
    const std::vector<float> row = ApplySteps({token.begin(), token.end()});
    rows.insert(rows.end(), row.begin(), row.end());
  }
  if (!vectors.pooling || !(is_query ? vectors.pooling->queries : vectors.pooling->documents)) return rows;
  const RowPooling& pooling = *vectors.pooling;
  if (pooling.factor > 1) {
    const auto kept = static_cast<size_t>(pooling.protected_rows);
    PERUSE_ASSIGN_OR_RETURN(rows, MergeRows(rows, out_, pooling.factor, kept));
  }
  for (size_t at = 0; pooling.normalizes && at < rows.size(); at += out_) NormalizeVector({&rows[at], out_});
  return rows;
}

}  // namespace peruse

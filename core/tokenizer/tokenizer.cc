#include "core/tokenizer/tokenizer.h"

#include <algorithm>

#include "core/base/utf8.h"
#include "core/tokenizer/offset_trimming.h"
#include "core/tokenizer/tokenizer_loader.h"
#include "core/tokenizer/tokenizer_parts.h"
#include "core/tokenizer/window_assembly.h"

namespace peruse {
namespace {

// Offsets are 32-bit; white space can grow threefold into metaspaces.
constexpr size_t kMaxTextBytes = size_t{1} << 29;

}  // namespace

Tokenizer::Tokenizer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::~Tokenizer() = default;

Result<std::unique_ptr<Tokenizer>> Tokenizer::Create(const TokenizerFiles& files) {
  return TokenizerLoader::Load(files);
}

Status Tokenizer::EncodeSequence(std::string_view text, int32_t word_id, SequenceEncoding* out) const {
  const size_t valid = ValidUtf8Prefix(text);
  if (valid != text.size()) return InvalidArgument("the text is not valid UTF-8 at byte " + std::to_string(valid));
  if (text.size() > kMaxTextBytes) return Status(StatusCode::kTextTooLong, "the text exceeds 512 MB");

  PieceList list, scratch;
  parts_->added_tokens.Extract(text, parts_->normalizer.get(), &list);
  if (parts_->pre_tokenizer != nullptr) parts_->pre_tokenizer->PreTokenize(&list, &scratch);

  Encoding& encoding = out->encoding;
  if (encoding.size() == 0) encoding.Reserve(list.pieces.size() + list.pieces.size() / 4);
  std::vector<ModelToken> tokens;
  int32_t word = 0;
  for (const Piece& piece : list.pieces) {
    tokens.clear();
    if (piece.token_id >= 0)
      tokens.push_back({piece.token_id, 0, piece.end - piece.begin});
    else
      PERUSE_RETURN_IF_ERROR(parts_->model->Tokenize(list.View(piece), &tokens));
    for (const ModelToken& token : tokens) {
      const Offset first = list.text.origins[piece.begin + token.begin];
      const Offset last = list.text.origins[piece.begin + token.end - 1];
      encoding.Append(token.id, out->sequence_id, word_id >= 0 ? word_id : word, out->sequence_id, 0,
                      {first.start, last.end});
    }
    ++word;
  }
  if (parts_->post_processor.trimming.enabled) TrimOffsets(text, *parts_, out);
  return OkStatus();
}

Result<SequenceEncoding> Tokenizer::EncodeInput(std::span<const std::string_view> words, bool is_split,
                                                int8_t sequence_id) const {
  SequenceEncoding sequence;
  sequence.sequence_id = sequence_id;
  for (size_t i = 0; i < words.size(); ++i) {
    PERUSE_RETURN_IF_ERROR(EncodeSequence(words[i], is_split ? static_cast<int32_t>(i) : -1, &sequence));
  }
  return sequence;
}

Result<std::vector<Encoding>> Tokenizer::EncodeAll(std::span<const std::string_view> text,
                                                   const std::span<const std::string_view>* pair, bool is_split,
                                                   const EncodeOptions& options) const {
  if (options.truncation != Truncation::kNone && (options.max_length < 0 || options.stride < 0)) {
    return InvalidArgument("max_length and stride must not be negative");
  }
  size_t limit = static_cast<size_t>(std::max(options.max_length, 0));
  if (options.truncation != Truncation::kNone && options.add_special_tokens) {
    const auto special = static_cast<size_t>(special_tokens_count(pair != nullptr));
    if (limit < special) {
      return InvalidArgument("max_length " + std::to_string(limit) + " leaves no room for the " +
                             std::to_string(special) + " special tokens");
    }
    limit -= special;
  }
  SequenceEncoding sequences[2];
  PERUSE_ASSIGN_OR_RETURN(sequences[0], EncodeInput(text, is_split, 0));
  if (pair != nullptr) {
    PERUSE_ASSIGN_OR_RETURN(sequences[1], EncodeInput(*pair, is_split, 1));
  }
  PERUSE_ASSIGN_OR_RETURN(
      const SequenceWindows windows,
      Truncate(sequences[0].encoding.size(), pair != nullptr, sequences[1].encoding.size(), limit, options.truncation,
               static_cast<size_t>(std::max(options.stride, 0)), parts_->truncation_side));
  return AssembleWindows(sequences, windows, parts_->post_processor, options.add_special_tokens);
}

Result<std::vector<Encoding>> Tokenizer::Encode(std::string_view text, const EncodeOptions& options) const {
  return EncodeAll({&text, 1}, nullptr, false, options);
}

Result<std::vector<Encoding>> Tokenizer::EncodePair(std::string_view text, std::string_view pair,
                                                    const EncodeOptions& options) const {
  const std::span<const std::string_view> second(&pair, 1);
  return EncodeAll({&text, 1}, &second, false, options);
}

Result<std::vector<Encoding>> Tokenizer::EncodeWords(std::span<const std::string_view> words,
                                                     const EncodeOptions& options) const {
  return EncodeAll(words, nullptr, true, options);
}

Result<std::vector<Encoding>> Tokenizer::EncodeWordsPair(std::span<const std::string_view> words,
                                                         std::span<const std::string_view> pair,
                                                         const EncodeOptions& options) const {
  return EncodeAll(words, &pair, true, options);
}

std::optional<int32_t> Tokenizer::TokenToId(std::string_view token) const {
  int32_t id = parts_->added_tokens.Find(token);
  if (id < 0) id = parts_->model->vocabulary().Find(token);
  return id < 0 ? std::nullopt : std::optional<int32_t>(id);
}

Result<std::string> Tokenizer::IdToToken(int32_t id) const {
  if (const AddedToken* added = parts_->added_tokens.Token(id)) return added->content;
  const std::optional<std::string_view> token = parts_->model->vocabulary().Token(id);
  if (!token) return InvalidArgument("there is no token with id " + std::to_string(id));
  return std::string(*token);
}

std::string Tokenizer::Decode(std::span<const int32_t> ids, bool skip_special_tokens) const {
  std::vector<std::string> tokens;
  for (const int32_t id : ids) {
    if (skip_special_tokens && IsSpecialToken(id)) continue;
    Result<std::string> token = IdToToken(id);
    if (token.ok()) tokens.push_back(std::move(*token));
  }
  std::string text = ConvertTokensToString(tokens);
  if (parts_->clean_up_spaces) CleanUpTokenization(false, &text);
  return text;
}

std::string Tokenizer::ConvertTokensToString(std::span<const std::string> tokens) const {
  std::vector<std::string> parts(tokens.begin(), tokens.end());
  if (parts_->decoder != nullptr) parts_->decoder->Decode(&parts);
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts_->decoder == nullptr && i > 0) text += ' ';
    text += parts[i];
  }
  return text;
}

int32_t Tokenizer::vocab_size() const {
  return std::max(parts_->model->vocabulary().id_limit(), parts_->added_tokens.id_limit());
}

int32_t Tokenizer::special_tokens_count(bool is_pair) const {
  return parts_->post_processor.SpecialTokenCount(is_pair);
}

bool Tokenizer::IsSpecialToken(int32_t id) const {
  const AddedToken* token = parts_->added_tokens.Token(id);
  return token != nullptr && token->special;
}

int32_t Tokenizer::cls_id() const { return parts_->cls_id; }
int32_t Tokenizer::sep_id() const { return parts_->sep_id; }
int32_t Tokenizer::mask_id() const { return parts_->mask_id; }
int32_t Tokenizer::pad_id() const { return parts_->pad_id; }
int32_t Tokenizer::unk_id() const { return parts_->unk_id; }
std::optional<int64_t> Tokenizer::model_max_length() const { return parts_->model_max_length; }
std::string_view Tokenizer::continuing_subword_prefix() const { return parts_->model->continuing_subword_prefix(); }

}  // namespace peruse

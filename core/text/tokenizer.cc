#include "core/text/tokenizer.h"

#include <algorithm>

#include "core/base/memory.h"
#include "core/base/utf8.h"
#include "core/text/files/tokenizer_loader.h"
#include "core/text/files/tokenizer_parts.h"
#include "core/text/pre_tokenizers/byte_level.h"
#include "core/text/pre_tokenizers/splitting.h"
#include "core/text/unicode/unicode.h"
#include "core/text/windows.h"

namespace peruse::text {
namespace {

bool IsBlank(char32_t c) { return c == StandIn(' ') || IsSpace(c); }

size_t LeadingBlanks(std::string_view token) {
  size_t count = 0;
  for (size_t position = 0; position < token.size() && IsBlank(DecodeUtf8(token, &position));) ++count;
  return count;
}

size_t TrailingBlanks(std::string_view token) {
  size_t count = 0;
  for (size_t position = token.size(); position > 0 && IsBlank(DecodeUtf8Backwards(token, &position));) ++count;
  return count;
}

// `leading` and `trailing` are code points, as in tokenizers. The range becomes empty rather than negative.
Offset Trim(std::string_view text, Offset offset, size_t leading, size_t trailing) {
  auto start = static_cast<size_t>(offset.start), end = static_cast<size_t>(offset.end);
  for (; leading > 0 && start < end; --leading) DecodeUtf8(text, &start);
  if (trailing > end / 4 && trailing > CountCodePoints(text.substr(0, end))) trailing = 0;
  for (; trailing > 0 && end > start; --trailing) DecodeUtf8Backwards(text, &end);
  return {static_cast<int32_t>(start), static_cast<int32_t>(end)};
}

// Removes white space from the range of `token`, as RobertaProcessing and ByteLevel do. Appends to first_offsets the range for the case
// that the token is the first of a window. `token_text` is the token's string, or the matched text of an unknown token. Returns false if
// memory runs out.
[[nodiscard]] bool TrimOffset(std::string_view text, std::string_view token_text, bool add_prefix_space,
                              SequenceToken* token, std::vector<Offset>* first_offsets) {
  const size_t leading = LeadingBlanks(token_text), trailing = TrailingBlanks(token_text);
  const bool was_added = add_prefix_space && leading == 1;
  const Offset offset = token->offset;
  const Offset first = Trim(text, offset, was_added ? 0 : leading, trailing);
  token->offset = was_added && offset.start == 0 ? first : Trim(text, offset, leading, trailing);
  return TryPushBack(first_offsets, first);
}

// Offsets have 32 bits, and white space can grow threefold when spaces become metaspace characters.
constexpr size_t kMaxTextBytes = size_t{1} << 24;

// Limits how much normalisation may grow a text. Unicode decomposition needs a factor of at most eleven.
constexpr size_t kMostGrowth = 32;
constexpr size_t kLeastBytes = 512;

Status NoMemory(size_t bytes) { return OutOfMemory("no memory to read a text of " + std::to_string(bytes) + " bytes"); }

bool IsBlank(std::string_view text) {
  for (size_t position = 0; position < text.size();) {
    if (!IsSpace(DecodeUtf8(text, &position))) return false;
  }
  return true;
}

}  // namespace

Tokenizer::Tokenizer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::~Tokenizer() = default;

Result<std::unique_ptr<Tokenizer>> Tokenizer::Create(const TokenizerFiles& files) {
  return TokenizerLoader::Load(files);
}

Status Tokenizer::SplitIntoWords(std::string_view text, PieceList* list, PieceList* scratch) const {
  list->text.limit = scratch->text.limit = kMostGrowth * (text.size() + kLeastBytes);
  PERUSE_RETURN_IF_ERROR(parts_->added_tokens.Extract(text, parts_->normalizer.get(), list));
  if (parts_->pre_tokenizer == nullptr) return OkStatus();
  return parts_->pre_tokenizer->PreTokenize(list, scratch) ? OkStatus() : list->text.Failure();
}

std::string_view Tokenizer::CalledText(std::string_view text, std::string_view word, bool is_added,
                                       const ModelToken& token, Offset offset) const {
  // The string of an added token is the matched text, including the spaces that it absorbed.
  const auto start = static_cast<size_t>(offset.start);
  if (is_added) return text.substr(start, static_cast<size_t>(offset.end) - start);
  if (token.id == parts_->model->text_token_id()) return word.substr(token.begin, token.end - token.begin);
  return parts_->model->vocabulary().Token(token.id).value_or("");
}

Status Tokenizer::EncodeSequence(std::string_view text, int32_t word_id, SequenceEncoding* out) const {
  const size_t valid = ValidUtf8Prefix(text);
  if (valid != text.size()) return InvalidArgument("the text is not valid UTF-8 at byte " + std::to_string(valid));
  if (text.size() > kMaxTextBytes)
    return Status(StatusCode::kTextTooLong, "the text has more than 16 MB; read it in parts");

  PieceList list, scratch;
  PERUSE_RETURN_IF_ERROR(SplitIntoWords(text, &list, &scratch));
  if (!TryGrow(&out->tokens, list.pieces.size() + list.pieces.size() / 4)) return NoMemory(text.size());
  std::vector<ModelToken> tokens;
  int32_t word = 0;
  for (const Piece& piece : list.pieces) {
    tokens.clear();
    if (piece.token_id >= 0) {
      if (!TryPushBack(&tokens, {piece.token_id, 0, piece.end - piece.begin})) return NoMemory(text.size());
    } else {
      PERUSE_RETURN_IF_ERROR(parts_->model->Tokenize(list.View(piece), &tokens));
    }
    if (!TryGrow(&out->tokens, tokens.size())) return NoMemory(text.size());
    const Offset* origins = list.text.origins.data() + piece.begin;
    for (const ModelToken& token : tokens) {
      out->tokens.push_back(
          {token.id, word_id >= 0 ? word_id : word, {origins[token.begin].start, origins[token.end - 1].end}});
      if (!parts_->post_processor.trimming.enabled) continue;
      const std::string_view called =
          CalledText(text, list.View(piece), piece.token_id >= 0, token, out->tokens.back().offset);
      if (!TrimOffset(text, called, parts_->post_processor.trimming.add_prefix_space, &out->tokens.back(),
                      &out->first_offsets)) {
        return NoMemory(text.size());
      }
    }
    ++word;
  }
  return OkStatus();
}

Result<SequenceEncoding> Tokenizer::EncodeInput(std::span<const std::string_view> words, bool is_split,
                                                int8_t sequence_id) const {
  PERUSE_RETURN_IF_ERROR(HoldReserve());
  SequenceEncoding sequence;
  sequence.sequence_id = sequence_id;
  for (size_t i = 0; i < words.size(); ++i) {
    PERUSE_RETURN_IF_ERROR(EncodeSequence(words[i], is_split ? static_cast<int32_t>(i) : -1, &sequence));
    sequence.is_blank = sequence.is_blank && IsBlank(words[i]);
  }
  return sequence;
}

Result<size_t> Tokenizer::RoomForText(bool has_pair, const EncodeOptions& options) const {
  if (options.truncation != Truncation::kNone && (options.max_length < 0 || options.stride < 0)) {
    return InvalidArgument("max_length and stride must not be negative");
  }
  size_t limit = static_cast<size_t>(std::max(options.max_length, 0));
  if (options.truncation != Truncation::kNone && options.add_special_tokens) {
    const auto special = static_cast<size_t>(special_tokens_count(has_pair));
    if (limit < special) {
      return InvalidArgument("max_length " + std::to_string(limit) + " leaves no room for the " +
                             std::to_string(special) + " special tokens");
    }
    limit -= special;
  }
  return limit;
}

Result<std::vector<Encoding>> Tokenizer::EncodeAll(std::span<const std::string_view> text,
                                                   const std::span<const std::string_view>* pair, bool is_split,
                                                   const EncodeOptions& options) const {
  PERUSE_ASSIGN_OR_RETURN(const size_t limit, RoomForText(pair != nullptr, options));
  SequenceEncoding sequences[2];
  PERUSE_ASSIGN_OR_RETURN(sequences[0], EncodeInput(text, is_split, 0));
  if (pair != nullptr) {
    PERUSE_ASSIGN_OR_RETURN(sequences[1], EncodeInput(*pair, is_split, 1));
  }
  PERUSE_ASSIGN_OR_RETURN(
      const SequenceWindows windows,
      Truncate(sequences[0].tokens.size(), pair != nullptr, sequences[1].tokens.size(), limit, options.truncation,
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

Result<std::vector<Encoding>> Tokenizer::EncodeWithEach(std::string_view text, std::span<const std::string> pairs,
                                                        const EncodeOptions& options) const {
  PERUSE_ASSIGN_OR_RETURN(const size_t limit, RoomForText(true, options));
  SequenceEncoding sequences[2];
  PERUSE_ASSIGN_OR_RETURN(sequences[0], EncodeInput({&text, 1}, false, 0));
  std::vector<Encoding> encodings;
  if (!TryReserve(&encodings, pairs.size()))
    return OutOfMemory("no memory for " + std::to_string(pairs.size()) + " pairs");
  for (const std::string& pair : pairs) {
    const std::string_view view = pair;
    PERUSE_ASSIGN_OR_RETURN(sequences[1], EncodeInput({&view, 1}, false, 1));
    PERUSE_ASSIGN_OR_RETURN(SequenceWindows windows,
                            Truncate(sequences[0].tokens.size(), true, sequences[1].tokens.size(), limit,
                                     options.truncation, 0, parts_->truncation_side));
    windows.text.resize(1);
    windows.pair.resize(1);
    PERUSE_ASSIGN_OR_RETURN(std::vector<Encoding> main,
                            AssembleWindows(sequences, windows, parts_->post_processor, options.add_special_tokens));
    encodings.push_back(std::move(main[0]));
  }
  return encodings;
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
  if (const AddedToken* added = parts_->added_tokens.Token(id)) return CopyText(added->content);
  const std::optional<std::string_view> token = parts_->model->vocabulary().Token(id);
  if (!token) return InvalidArgument("there is no token with id " + std::to_string(id));
  return CopyText(*token);
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

int32_t Tokenizer::model_vocab_size() const {
  int32_t limit = std::max(parts_->model->vocabulary().id_limit(), parts_->added_tokens.listed_id_limit());
  for (const std::vector<TemplatePart>* parts : {&parts_->post_processor.single, &parts_->post_processor.pair}) {
    for (const TemplatePart& part : *parts) {
      for (const int32_t id : part.ids) limit = std::max(limit, id + 1);
    }
  }
  return limit;
}

int32_t Tokenizer::special_tokens_count(bool is_pair) const {
  return parts_->post_processor.SpecialTokenCount(is_pair);
}

bool Tokenizer::IsSpecialToken(int32_t id) const { return parts_->added_tokens.IsSpecial(id); }

int32_t Tokenizer::cls_id() const { return parts_->cls_id; }
int32_t Tokenizer::sep_id() const { return parts_->sep_id; }
int32_t Tokenizer::mask_id() const { return parts_->mask_id; }
int32_t Tokenizer::pad_id() const { return parts_->pad_id; }
int32_t Tokenizer::unk_id() const { return parts_->unk_id; }
int32_t Tokenizer::eos_id() const { return parts_->eos_id; }
bool Tokenizer::pads_left() const { return parts_->pads_left; }
std::optional<int64_t> Tokenizer::model_max_length() const { return parts_->model_max_length; }
std::string_view Tokenizer::continuing_subword_prefix() const { return parts_->model->continuing_subword_prefix(); }

}  // namespace peruse::text

#include "core/text/files/sentencepiece_files.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/base/memory.h"
#include "core/base/sort.h"
#include "core/base/utf8.h"
#include "core/text/files/protobuf_reader.h"
#include "core/text/models/bpe.h"
#include "core/text/models/unigram.h"
#include "core/text/normalizers/precompiled.h"
#include "core/text/normalizers/simple_normalizers.h"
#include "core/text/normalizers/unicode_normalizer.h"
#include "core/text/pre_tokenizers/metaspace.h"
#include "core/text/pre_tokenizers/simple_pre_tokenizers.h"

namespace peruse::text {
namespace {

constexpr char32_t kMetaspace = 0x2581;
constexpr const char* kMetaspaceText = "\xE2\x96\x81";

constexpr UnigramPieces::value_type kXlmRobertaFirst[] = {{"<s>", 0}, {"<pad>", 0}, {"</s>", 0}, {"<unk>", 0}};
constexpr UnigramPieces::value_type kCamembertFirst[] = {
    {"<s>NOTUSED", 0}, {"<pad>", 0}, {"</s>NOTUSED", 0}, {"<unk>", 0}, {"<unk>NOTUSED", -100}};
constexpr int64_t kFairseqUnknown = 3;

// Numbers pieces like fairseq: its special tokens, then the file's pieces without the first three (XLM-RoBERTa) or one (CamemBERT), then
// the mask token.
Status Renumber(VocabularyFiles files, SentencePieceModel* spm) {
  const bool is_xlm = files == VocabularyFiles::kXlmRoberta;
  const auto first = is_xlm ? std::span<const UnigramPieces::value_type>(kXlmRobertaFirst) : kCamembertFirst;
  const size_t dropped = std::min<size_t>(is_xlm ? 3 : 1, spm->pieces.size());
  UnigramPieces pieces;
  if (!TryReserve(&pieces, first.size() + spm->pieces.size() + 1)) return OutOfMemory("no memory for the vocabulary");
  pieces.assign(first.begin(), first.end());
  pieces.insert(pieces.end(), spm->pieces.begin() + static_cast<std::ptrdiff_t>(dropped), spm->pieces.end());
  pieces.push_back({"<mask>", 0});
  spm->pieces = std::move(pieces);
  spm->unk_id = kFairseqUnknown;
  return OkStatus();
}

Result<std::unique_ptr<Normalizer>> FairseqNormalizer(std::string_view charsmap) {
  std::vector<std::unique_ptr<Normalizer>> steps;
  if (!charsmap.empty()) {
    PERUSE_ASSIGN_OR_RETURN(auto precompiled, PrecompiledNormalizer::Create(charsmap));
    steps.push_back(std::move(precompiled));
  }
  steps.push_back(std::make_unique<StripNormalizer>(false, true));
  PERUSE_ASSIGN_OR_RETURN(Pattern spaces, Pattern::Regex(" {2,}"));
  steps.push_back(std::make_unique<ReplaceNormalizer>(std::move(spaces), kMetaspaceText));
  return std::unique_ptr<Normalizer>(std::make_unique<SequenceNormalizer>(std::move(steps)));
}

Result<std::unique_ptr<Normalizer>> DebertaNormalizer(std::string_view charsmap, bool lowercase) {
  std::vector<std::unique_ptr<Normalizer>> steps;
  if (lowercase) steps.push_back(std::make_unique<LowercaseNormalizer>());
  steps.push_back(std::make_unique<StripNormalizer>(true, true));
  if (!charsmap.empty()) {
    PERUSE_ASSIGN_OR_RETURN(auto precompiled, PrecompiledNormalizer::Create(charsmap));
    steps.push_back(std::move(precompiled));
  }
  PERUSE_ASSIGN_OR_RETURN(Pattern spaces, Pattern::Regex(" {2,}"));
  steps.push_back(std::make_unique<ReplaceNormalizer>(std::move(spaces), " "));
  return std::unique_ptr<Normalizer>(std::make_unique<SequenceNormalizer>(std::move(steps)));
}

std::unique_ptr<PreTokenizer> MakePreTokenizer(bool split_by_punct) {
  std::vector<std::unique_ptr<PreTokenizer>> steps;
  if (split_by_punct) steps.push_back(std::make_unique<PunctuationPreTokenizer>(SplitBehavior::kIsolated));
  steps.push_back(std::make_unique<Metaspace>(kMetaspace, PrependScheme::kAlways, true));
  return std::make_unique<SequencePreTokenizer>(std::move(steps));
}

struct PieceMerge {
  double score;
  int32_t piece, left, right;
  uint32_t left_chars, right_chars;
};

bool IsBefore(const PieceMerge& a, const PieceMerge& b) {
  if (a.score != b.score) return a.score > b.score;
  if (a.left_chars != b.left_chars) return a.left_chars > b.left_chars;
  if (a.right_chars != b.right_chars) return a.right_chars > b.right_chars;
  if (a.piece != b.piece) return a.piece < b.piece;
  return a.left != b.left ? a.left < b.left : a.right < b.right;
}

// Finds all ways to split a piece into two pieces of the vocabulary (transformers' generate_merges).
Result<std::vector<PieceMerge>> FindMerges(const SentencePieceModel& spm, const Vocabulary& vocabulary) {
  constexpr size_t kLongestPiece = 1024;
  std::vector<PieceMerge> merges;
  for (size_t i = 0; i < spm.pieces.size(); ++i) {
    const auto& [piece, score] = spm.pieces[i];
    if (piece.size() > kLongestPiece)
      return Unsupported("SentencePiece model: a piece of more than 1024 bytes in a BPE model");
    const size_t chars = CountCodePoints(piece);
    size_t at = 0;
    for (size_t left_chars = 1; left_chars < chars; ++left_chars) {
      DecodeUtf8(piece, &at);
      const int32_t left = vocabulary.Find(piece.substr(0, at)), right = vocabulary.Find(piece.substr(at));
      if (left < 0 || right < 0) continue;
      const PieceMerge merge{score, static_cast<int32_t>(i),           left,
                             right, static_cast<uint32_t>(left_chars), static_cast<uint32_t>(chars - left_chars)};
      if (!TryPushBack(&merges, merge)) return OutOfMemory("no memory for the merges of the SentencePiece model");
    }
  }
  HeapSort(merges.begin(), merges.end(), IsBefore);
  return merges;
}

Result<std::unique_ptr<Model>> MakeBpe(const SentencePieceModel& spm) {
  const auto no_memory = [] { return OutOfMemory("no memory for the merges of the SentencePiece model"); };
  VocabularyEntries entries;
  if (!TryReserve(&entries, spm.pieces.size())) return no_memory();
  for (const auto& [piece, score] : spm.pieces) entries.push_back({piece, static_cast<int32_t>(entries.size())});
  PERUSE_ASSIGN_OR_RETURN(Vocabulary vocabulary, Vocabulary::Create(entries));
  PERUSE_ASSIGN_OR_RETURN(const std::vector<PieceMerge> found, FindMerges(spm, vocabulary));
  BpeMerges merges;
  if (!TryReserve(&merges, found.size())) return no_memory();
  for (const PieceMerge& merge : found) {
    merges.push_back(
        {spm.pieces[static_cast<size_t>(merge.left)].first, spm.pieces[static_cast<size_t>(merge.right)].first});
  }
  BpeOptions options;
  options.unk_token.emplace();
  if (!TryAssign(&*options.unk_token, spm.unk_piece)) return no_memory();
  options.fuse_unk = true;
  PERUSE_ASSIGN_OR_RETURN(auto bpe, Bpe::Create(std::move(vocabulary), merges, std::move(options)));
  return std::unique_ptr<Model>(std::move(bpe));
}

Result<std::unique_ptr<Model>> MakeModel(const SentencePieceModel& spm) {
  if (spm.model_type == 2) return MakeBpe(spm);
  if (spm.model_type != 1) return Unsupported("SentencePiece model: only unigram and BPE models are supported");
  PERUSE_ASSIGN_OR_RETURN(auto unigram, Unigram::Create(spm.pieces, spm.unk_id, false));
  return std::unique_ptr<Model>(std::move(unigram));
}

Status ListTokens(const SentencePieceModel& spm, std::vector<ListedToken>* listed) {
  for (size_t i = 0; i < spm.pieces.size(); ++i) {
    const PieceType type = spm.types[i];
    if (type != PieceType::kControl && type != PieceType::kUserDefined) continue;
    ListedToken token{static_cast<int64_t>(i), {}};
    PERUSE_ASSIGN_OR_RETURN(token.entry.token.content, CopyText(spm.pieces[i].first));
    token.entry.token.special = type == PieceType::kControl;
    token.entry.token.normalized = false;
    token.entry.has_normalized = true;
    if (!TryPushBack(listed, std::move(token)))
      return OutOfMemory("no memory for the tokens of the SentencePiece model");
  }
  return OkStatus();
}

enum ModelField { kPieces = 1, kTrainerSpec = 2, kNormalizerSpec = 3 };
enum PieceField { kPiece = 1, kScore = 2, kType = 3 };
enum TrainerField { kModelType = 3, kUnkId = 40, kUnkPiece = 45 };
enum NormalizerField { kCharsmap = 2 };

Status Malformed(const char* what) { return MalformedFile(std::string("SentencePiece model: ") + what); }

Status ReadPiece(std::string_view bytes, SentencePieceModel* model) {
  std::string_view piece;
  float score = 0;
  auto type = PieceType::kNormal;
  ProtobufReader reader(bytes);
  while (reader.Next()) {
    if (reader.field() == kPiece)
      piece = reader.bytes();
    else if (reader.field() == kScore)
      score = reader.float32();
    else if (reader.field() == kType)
      type = static_cast<PieceType>(std::min<uint64_t>(reader.varint(), 255));
  }
  if (reader.failed()) return Malformed("malformed piece");
  if (!IsValidUtf8(piece)) return Malformed("a piece is not UTF-8");
  if (!std::isfinite(score)) return Malformed("the score of a piece is not finite");
  if (!TryPushBack(&model->pieces, {piece, score}) || !TryPushBack(&model->types, type)) {
    return OutOfMemory("no memory for the SentencePiece model");
  }
  return OkStatus();
}

Status ReadTrainerSpec(std::string_view bytes, SentencePieceModel* model) {
  ProtobufReader reader(bytes);
  while (reader.Next()) {
    if (reader.field() == kModelType)
      model->model_type = static_cast<int64_t>(reader.varint());
    else if (reader.field() == kUnkId)
      model->unk_id = static_cast<int32_t>(reader.varint());
    else if (reader.field() == kUnkPiece)
      model->unk_piece = reader.bytes();
  }
  return reader.failed() ? Malformed("malformed trainer spec") : OkStatus();
}

Status ReadNormalizerSpec(std::string_view bytes, SentencePieceModel* model) {
  ProtobufReader reader(bytes);
  while (reader.Next()) {
    if (reader.field() == kCharsmap) model->charsmap = reader.bytes();
  }
  return reader.failed() ? Malformed("malformed normalizer spec") : OkStatus();
}

}  // namespace

const char* SentencePieceFile(VocabularyFiles files) {
  switch (files) {
    case VocabularyFiles::kSentencePiece:
      return "spm.model";
    case VocabularyFiles::kXlmRoberta:
    case VocabularyFiles::kCamembert:
      return "sentencepiece.bpe.model";
    case VocabularyFiles::kNone:
    case VocabularyFiles::kWordPiece:
    case VocabularyFiles::kByteLevel:
      break;
  }
  return nullptr;
}

Status ReadSentencePieceFiles(std::string_view model, VocabularyFiles files, const TokenizerConfig& config,
                              std::vector<ListedToken>* listed, Tokenizer::Parts* parts) {
  PERUSE_ASSIGN_OR_RETURN(SentencePieceModel spm, ReadSentencePieceModel(model));
  PERUSE_RETURN_IF_ERROR(ListTokens(spm, listed));
  const bool is_deberta = files == VocabularyFiles::kSentencePiece;
  if (!is_deberta) PERUSE_RETURN_IF_ERROR(Renumber(files, &spm));
  PERUSE_ASSIGN_OR_RETURN(parts->model, MakeModel(spm));
  if (is_deberta) {
    PERUSE_ASSIGN_OR_RETURN(parts->normalizer, DebertaNormalizer(spm.charsmap, config.lowercase.value_or(false)));
  } else {
    PERUSE_ASSIGN_OR_RETURN(parts->normalizer, FairseqNormalizer(spm.charsmap));
  }
  parts->pre_tokenizer = MakePreTokenizer(is_deberta && config.split_by_punct);
  parts->decoder = MakeMetaspaceDecoder(kMetaspaceText, true);
  return OkStatus();
}

Result<SentencePieceModel> ReadSentencePieceModel(std::string_view bytes) {
  SentencePieceModel model;
  ProtobufReader reader(bytes);
  while (reader.Next()) {
    if (reader.field() == kPieces)
      PERUSE_RETURN_IF_ERROR(ReadPiece(reader.bytes(), &model));
    else if (reader.field() == kTrainerSpec)
      PERUSE_RETURN_IF_ERROR(ReadTrainerSpec(reader.bytes(), &model));
    else if (reader.field() == kNormalizerSpec)
      PERUSE_RETURN_IF_ERROR(ReadNormalizerSpec(reader.bytes(), &model));
  }
  if (reader.failed()) return Malformed("no valid protobuf");
  if (model.pieces.empty()) return Malformed("no pieces");
  return model;
}

}  // namespace peruse::text

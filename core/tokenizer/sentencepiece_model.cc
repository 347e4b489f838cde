#include "core/tokenizer/sentencepiece_model.h"

#include <cmath>

#include "core/base/utf8.h"
#include "core/tokenizer/protobuf_reader.h"

namespace peruse {
namespace {

// Field numbers of sentencepiece_model.proto.
enum ModelField { kPieces = 1, kTrainerSpec = 2, kNormalizerSpec = 3 };
enum PieceField { kPiece = 1, kScore = 2 };
enum TrainerField { kModelType = 3, kUnkId = 40 };
enum NormalizerField { kCharsmap = 2 };
constexpr uint64_t kUnigramType = 1;

Status Malformed(const char* what) { return MalformedFile(std::string("spm.model: ") + what); }

Status ReadPiece(std::string_view bytes, SentencePieceModel* model) {
  std::string_view piece;
  float score = 0;
  ProtobufReader reader(bytes);
  while (reader.Next()) {
    if (reader.field() == kPiece)
      piece = reader.bytes();
    else if (reader.field() == kScore)
      score = reader.float32();
  }
  if (reader.failed()) return Malformed("malformed piece");
  if (!IsValidUtf8(piece)) return Malformed("a piece is not UTF-8");
  if (!std::isfinite(score)) return Malformed("the score of a piece is not finite");
  model->pieces.push_back({piece, score});
  return OkStatus();
}

Status ReadTrainerSpec(std::string_view bytes, SentencePieceModel* model) {
  ProtobufReader reader(bytes);
  while (reader.Next()) {
    if (reader.field() == kModelType)
      model->is_unigram = reader.varint() == kUnigramType;
    else if (reader.field() == kUnkId)
      model->unk_id = static_cast<int32_t>(reader.varint());
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

}  // namespace peruse

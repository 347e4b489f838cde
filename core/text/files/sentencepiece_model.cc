#include "core/text/files/sentencepiece_model.h"

#include <algorithm>
#include <cmath>

#include "core/base/memory.h"
#include "core/base/utf8.h"
#include "core/text/files/protobuf_reader.h"

namespace peruse::text {
namespace {

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

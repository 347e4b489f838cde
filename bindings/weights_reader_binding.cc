// The Embind class WeightsReader: reads tensors of a weights file in any format, for tools that copy or describe them. The host feeds the
// file through a staging buffer; pieces that a call returns stay in the heap until the next call. Replies are JSON text.
#include <emscripten/bind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/reply.h"
#include "core/base/json_writer.h"
#include "core/base/memory.h"
#include "core/formats/weight_format.h"
#include "core/model/stored_format.h"
#include "core/model/token_rows.h"
#include "core/weights/row_encoder.h"
#include "core/weights/weights_parser.h"

namespace peruse {
namespace {

class PieceCollector : public TensorVisitor {
 public:
  struct Piece {
    size_t tensor;
    const uint8_t* data;
    size_t size;
  };

  // Marks the tensors of the following header that have a row for each token.
  void MarkTokenRows(std::string_view config_json) { config_json_ = config_json; }

  // Starts a call whose input is `staged`. These bytes stay valid until the next call, so pieces within them are not copied.
  void Begin(std::span<const uint8_t> staged) {
    staged_ = staged;
    pieces_.clear();
    copies_.clear();
  }
  Status OnHeader(std::span<const TensorInfo> tensors) override {
    tensors_.assign(tensors.begin(), tensors.end());
    has_header_ = true;
    if (!config_json_.empty()) {
      PERUSE_ASSIGN_OR_RETURN(has_token_rows_, HaveTokenRows(config_json_, tensors_));
    }
    return OkStatus();
  }
  Status OnData(size_t index, std::span<const uint8_t> bytes) override {
    const uint8_t* data = bytes.data();
    if (data < staged_.data() || data >= staged_.data() + staged_.size()) {
      PERUSE_RETURN_IF_ERROR(EnsureMemory(bytes.size(), "a tensor that lies scattered in its file"));
      data = copies_.emplace_back(bytes.begin(), bytes.end()).data();
    }
    pieces_.push_back({index, data, bytes.size()});
    return OkStatus();
  }

  // A tensor may repeat the bytes of another; these are delivered once, and the header lists both names.
  bool Wants(size_t index) const override { return tensors_[index].same_as.empty(); }

  // Returns {"header": [{"name", "dtype", "shape", "same_as", "token_rows"}] once known, "pieces": [[tensor, address, bytes], ...]}.
  std::string Write() {
    std::string json;
    JsonWriter writer(&json);
    writer.BeginObject();
    if (has_header_) WriteHeader(writer);
    has_header_ = false;
    writer.Key("pieces");
    writer.BeginArray();
    for (const Piece& piece : pieces_) {
      writer.BeginArray();
      writer.Int(static_cast<int64_t>(piece.tensor));
      writer.Int(static_cast<int64_t>(reinterpret_cast<uintptr_t>(piece.data)));
      writer.Int(static_cast<int64_t>(piece.size));
      writer.EndArray();
    }
    writer.EndArray();
    writer.EndObject();
    return json;
  }

 private:
  void WriteHeader(JsonWriter& writer) const {
    writer.Key("header");
    writer.BeginArray();
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const TensorInfo& tensor = tensors_[i];
      writer.BeginObject();
      writer.Key("name");
      writer.String(tensor.name);
      writer.Key("dtype");
      writer.String(tensor.dtype_name);
      writer.Key("shape");
      writer.BeginArray();
      for (const int64_t size : tensor.shape) writer.Int(size);
      writer.EndArray();
      if (!tensor.same_as.empty()) {
        writer.Key("same_as");
        writer.String(tensor.same_as);
      }
      if (i < has_token_rows_.size() && has_token_rows_[i]) {
        writer.Key("token_rows");
        writer.Bool(true);
      }
      writer.EndObject();
    }
    writer.EndArray();
  }

  std::span<const uint8_t> staged_;
  std::vector<TensorInfo> tensors_;
  std::string config_json_;           // empty unless MarkTokenRows was called
  std::vector<bool> has_token_rows_;  // one for each tensor, or empty
  bool has_header_ = false;           // the header is known, but not written yet
  std::vector<Piece> pieces_;
  std::vector<std::vector<uint8_t>> copies_;
};

class WeightsReaderBinding {
 public:
  WeightsReaderBinding() {
    Choose([](std::span<const TensorInfo> tensors) { return std::vector<StoredRows>(tensors.size()); });
  }

  uintptr_t Reserve(uint32_t bytes) { return staging_.Reserve(bytes); }

  // Converts all following tensors to the format of `dtype`. The staged text is the model's config.json. Must be called before the first
  // bytes. Returns {"ok": true, "config": {...}} with the resulting config.json.
  std::string Encode(uint32_t bytes, const std::string& dtype) {
    if (const Status status = staging_.Check(bytes); !status.ok()) return Failure(status);
    const Precision* const precision = FindPrecision(dtype);
    if (precision == nullptr) return Failure(InvalidArgument("dtype must be " + PrecisionNames()));
    Result<StoredFormat> format = StoredFormat::Create(staging_.Text(bytes), *precision);
    if (!format.ok()) return Failure(format.status());
    format_ = std::move(*format);
    Choose([this](std::span<const TensorInfo> tensors) { return format_->Choose(tensors); });
    return Success("config", format_->config_json());
  }

  // After Encode: measures what each layer loses (RowEncoder::losses), and gives the layers with tensors of the staged list more bits
  // (StoredFormat::Widen).
  std::string Widen(uint32_t bytes) {
    if (const Status status = staging_.Check(bytes); !status.ok()) return Failure(status);
    if (!format_) return Failure(InvalidArgument("encode comes first"));
    encoder_->Measure();
    format_->Widen(staging_.Text(bytes));
    return Reply(OkStatus());
  }

  // Marks the tensors of the header that have a row for each token ("token_rows"). The staged text is the model's config.json. Must be called
  // before the first bytes.
  std::string MarkTokenRows(uint32_t bytes) {
    if (const Status status = staging_.Check(bytes); !status.ok()) return Failure(status);
    collector_.MarkTokenRows(staging_.Text(bytes));
    return Reply(OkStatus());
  }

  std::string Feed(uint32_t bytes) {
    if (const Status status = staging_.Check(bytes); !status.ok()) return Failure(status);
    collector_.Begin(staging_.Bytes(bytes));
    const Status status = parser_->Feed(staging_.Bytes(bytes));
    return status.ok() ? Success("read", collector_.Write()) : Failure(status);
  }

  // Returns {"ok": true, "report": {"encoded", "bytes", "losses": [[name, loss], ...]}}: the number of encoded tensors, the bytes of all source
  // tensors, and what Widen measures.
  std::string Finish() {
    if (const Status status = HoldReserve(); !status.ok()) return Failure(status);
    if (const Status status = parser_->Finish(); !status.ok()) return Failure(status);
    std::string json;
    JsonWriter writer(&json);
    writer.BeginObject();
    writer.Key("encoded");
    writer.Int(encoder_->encoded());
    writer.Key("bytes");
    writer.Int(static_cast<int64_t>(encoder_->source_bytes()));
    writer.Key("losses");
    writer.BeginArray();
    for (const RowEncoder::Loss& loss : encoder_->losses()) {
      if (!format_->IsLayer(loss.name)) continue;
      writer.BeginArray();
      writer.String(loss.name);
      writer.Double(loss.relative);
      writer.EndArray();
    }
    writer.EndArray();
    writer.EndObject();
    return Success("report", json);
  }

 private:
  void Choose(RowEncoder::Choose choose) {
    encoder_ = std::make_unique<RowEncoder>(std::move(choose), collector_);
    parser_ = std::make_unique<WeightsParser>(*encoder_);
  }

  PieceCollector collector_;
  std::optional<StoredFormat> format_;   // of Encode
  std::unique_ptr<RowEncoder> encoder_;  // between the parser and the collector
  std::unique_ptr<WeightsParser> parser_;
  Staging staging_;
};

EMSCRIPTEN_BINDINGS(peruse_weights) {
  emscripten::class_<WeightsReaderBinding>("WeightsReader")
      .constructor<>()
      .function("reserve", &WeightsReaderBinding::Reserve)
      .function("encode", &WeightsReaderBinding::Encode)
      .function("widen", &WeightsReaderBinding::Widen)
      .function("markTokenRows", &WeightsReaderBinding::MarkTokenRows)
      .function("feed", &WeightsReaderBinding::Feed)
      .function("finish", &WeightsReaderBinding::Finish);
}

}  // namespace
}  // namespace peruse

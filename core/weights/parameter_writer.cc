#include "core/weights/parameter_writer.h"

#include <algorithm>
#include <utility>

#include "core/base/memory.h"
#include "core/formats/quantize.h"
#include "core/weights/float_reader.h"
#include "core/weights/row_reader.h"
#include "core/weights/stored_rows.h"

namespace peruse {
namespace {

Status NotFinite(const std::string& tensor) {
  return MalformedFile("tensor \"" + tensor + "\" holds NaN or infinity: nothing can be computed with it");
}

using Writer = std::unique_ptr<TensorWriter>;

// Writes the bytes of a tensor to each of its uses.
class UseWriter : public TensorWriter {
 public:
  void Add(Writer use) { uses_.push_back(std::move(use)); }

  Status Feed(std::span<const uint8_t> bytes) override {
    for (const Writer& use : uses_) PERUSE_RETURN_IF_ERROR(use->Feed(bytes));
    return OkStatus();
  }

 private:
  std::vector<Writer> uses_;
};

// Passes the bytes to a reader, which passes rows or numbers on.
template <typename Reader>
class ReadingWriter : public TensorWriter {
 public:
  template <typename... Arguments>
  explicit ReadingWriter(Arguments&&... arguments) : reader_(std::forward<Arguments>(arguments)...) {}

  Status Feed(std::span<const uint8_t> bytes) override { return reader_.Feed(bytes); }

 private:
  Reader reader_;
};

// Writes the bytes unchanged to a table that has the type of the file.
class TableWriter : public TensorWriter {
 public:
  TableWriter(EmbeddingTable* table, const std::string& name) : table_(table), name_(name) {}

  Status Feed(std::span<const uint8_t> bytes) override {
    return table_->AppendBytes(bytes) ? OkStatus() : NotFinite(name_);
  }

 private:
  EmbeddingTable* const table_;
  const std::string& name_;
};

}  // namespace

const WeightFormat* RowFormat(const Parameters& parameters, const ParameterTensor& tensor, Precision precision) {
  switch (tensor.parameter.kind) {
    case ParameterId::Kind::kTable:
      return parameters.table(tensor.parameter).words ? &FormatOf(precision) : nullptr;
    case ParameterId::Kind::kWeight:
      if (!KeepsRows(tensor.layout) && RowsTransposed(parameters, tensor) == 0) return nullptr;
      return &FormatOf(parameters.linear(tensor.parameter).precision);
    case ParameterId::Kind::kBias:
    case ParameterId::Kind::kConstant:
      return nullptr;
  }
  return nullptr;
}

bool ParameterWriter::TakesEncoded(const ParameterTensor& use, DType type) const {
  if (TakesPart(use.layout)) return FormatOfFile(type) != nullptr;
  const WeightFormat* const format = RowFormat(parameters_, use, precision_);
  if (format == nullptr) return false;
  const WeightFormat* const stored = FormatOfFile(type);
  if (stored == nullptr) return false;
  if (stored == format) return true;
  if (use.parameter.kind != ParameterId::Kind::kWeight) return false;
  return &stored->linear_format() == format || (&format->linear_format() == stored && !IsCreated(use.parameter));
}

void ParameterWriter::OnFormats(std::span<const NeededTensor> tensors) {
  struct Rows {
    const WeightFormat* least = nullptr;   // a format of a tensor that is its own linear_format()
    const WeightFormat* packed = nullptr;  // of the other tensors
    bool others = false;                   // whether tensors of floats or of other files belong to the layer, too
  };
  std::vector<Rows> layers(parameters_.linears.size());
  std::vector<const WeightFormat*> formats(parameters_.tensors.size());
  for (const NeededTensor& tensor : tensors) {
    // A decoder that shares token embeddings has the format that it has in a checkpoint of floats.
    for (const size_t use : tensor.uses) formats[use] = tensor.words ? nullptr : tensor.format;
  }
  for (size_t i = 0; i < formats.size(); ++i) {
    const ParameterTensor& use = parameters_.tensors[i];
    if (use.parameter.kind != ParameterId::Kind::kWeight) continue;
    Rows& rows = layers[static_cast<size_t>(use.parameter.number)];
    const WeightFormat* const format = RowFormat(parameters_, use, precision_) != nullptr ? formats[i] : nullptr;
    if (format == nullptr) {
      rows.others = true;
    } else {
      (format == &format->linear_format() ? rows.least : rows.packed) = format;
    }
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    const WeightFormat* const stored =
        layers[i].least != nullptr || layers[i].others ? layers[i].least : layers[i].packed;
    if (stored == nullptr || weights_.linears[i].valid()) continue;
    const Precision precision = StoredPrecision(parameters_.linears[i], *stored);
    if (backend_.LinearPrecision(precision) == precision) parameters_.linears[i].precision = precision;
  }
}

// Collects payload or scales of a tensor in a format that linear layers do not have. The part that completes it fills the layers.
class ParameterWriter::PackedWriter : public TensorWriter {
 public:
  PackedWriter(ParameterWriter& writer, const TensorInfo& stored, std::string name)
      : writer_(writer), missing_(stored.bytes()), name_(std::move(name)) {}

  void SetScales(std::unique_ptr<FloatReader> scales) { scales_ = std::move(scales); }
  void SetNext(std::unique_ptr<TensorWriter> next) { next_ = std::move(next); }

  Status Feed(std::span<const uint8_t> bytes) override {
    Packed& packed = writer_.packed_[name_];
    if (next_) PERUSE_RETURN_IF_ERROR(next_->Feed(bytes));
    if (scales_) {
      PERUSE_RETURN_IF_ERROR(scales_->Feed(bytes));
    } else {
      if (!TryGrow(&packed.payload, bytes.size())) return OutOfMemory("no memory for rows of weights");
      packed.payload.insert(packed.payload.end(), bytes.begin(), bytes.end());
    }
    missing_ -= bytes.size();
    if (missing_ > 0 || ++packed.parts < 2) return OkStatus();
    const Status status = writer_.Unpack(packed);
    writer_.packed_.erase(name_);
    return status;
  }

 private:
  ParameterWriter& writer_;
  uint64_t missing_;
  const std::string name_;
  std::unique_ptr<FloatReader> scales_;  // null for the payload
  std::unique_ptr<TensorWriter> next_;   // of the tensor's tables
};

Status ParameterWriter::Unpack(const Packed& packed) {
  const int64_t width = parameters_.cols(packed.layers.front()->parameter);
  const auto scales = static_cast<size_t>(packed.format->RowScales(width));
  std::vector<float> row;
  if (!TryResize(&row, static_cast<size_t>(width))) return OutOfMemory("no memory for a row of weights");
  for (size_t r = 0; r < packed.scales.size() / scales; ++r) {
    for (const ParameterTensor* use : packed.layers) {
      // Other backends multiply layers in the format of the file.
      const bool multiplies = Multiplies(*packed.format, *use) || (!packed.words && !TakesPart(use->layout));
      packed.format->DecodeRow({packed.payload, packed.scales}, r, multiplies, row);
      if (RowsTransposed(parameters_, *use) > 0) {
        for (const ElementRun& run : RunsOfRows(parameters_, *use, static_cast<int64_t>(r), 1)) {
          PERUSE_RETURN_IF_ERROR(WriteRows(use->parameter, run.to, row));
        }
        continue;
      }
      const int64_t unit = UnitElements(parameters_.placement(*use));
      PERUSE_RETURN_IF_ERROR(WriteElements(*use, static_cast<int64_t>(r) * width / unit, row));
    }
  }
  return OkStatus();
}

bool ParameterWriter::RoundsFirst(const NeededTensor& tensor, const ParameterTensor& use) const {
  const WeightFormat& words = FormatOf(precision_);
  if (TakesPart(use.layout)) return tensor.words && words.RowScales(parameters_.cols(use.parameter)) > 0;
  if (use.parameter.kind != ParameterId::Kind::kWeight || !KeepsRows(use.layout)) return false;
  const WeightFormat* const format = RowFormat(parameters_, use, precision_);
  if (format == nullptr || format == &words || &words.linear_format() == &words) return false;
  return tensor.words || (format == &words.linear_format() && words.KeepsLinear(parameters_.linear(use.parameter)));
}

// Whether a backend with kernels of `format` would multiply this weight in that format. Other backends get the same values, so that all
// backends compute the same.
bool ParameterWriter::Multiplies(const WeightFormat& format, const ParameterTensor& use) const {
  return use.parameter.kind == ParameterId::Kind::kWeight && !TakesPart(use.layout) &&
         format.KeepsLinear(parameters_.linear(use.parameter));
}

Result<std::span<const float>> ParameterWriter::Rounded(const ParameterTensor& use, std::span<const float> rows) {
  const WeightFormat& words = FormatOf(precision_);
  const int64_t width = parameters_.cols(use.parameter);
  PERUSE_ASSIGN_OR_RETURN(const EncodedRows encoded, words.Encode(rows, width, &encoded_));
  if (!TryResize(&rounded_, rows.size())) return OutOfMemory("no memory for rows of weights");
  const auto cols = static_cast<size_t>(width);
  for (size_t r = 0; r * cols < rows.size(); ++r) {
    words.DecodeRow(encoded, r, Multiplies(words, use), std::span<float>(rounded_).subspan(r * cols, cols));
  }
  return std::span<const float>(rounded_);
}

Result<std::unique_ptr<TensorWriter>> ParameterWriter::Open(const NeededTensor& tensor, const TensorInfo& stored,
                                                            Content content) {
  auto uses = std::make_unique<UseWriter>();
  std::vector<const ParameterTensor*> packed_layers;
  for (const size_t number : tensor.uses) {
    const ParameterTensor& use = parameters_.tensors[number];
    const auto decodes = [&] {
      return TakesPart(use.layout) || tensor.format != &FormatOf(parameters_.linear(use.parameter).precision);
    };
    if (tensor.format != nullptr && use.parameter.kind == ParameterId::Kind::kWeight && decodes()) {
      packed_layers.push_back(&use);
      continue;
    }
    PERUSE_ASSIGN_OR_RETURN(Writer writer, WriterOf(use, tensor, stored, content));
    uses->Add(std::move(writer));
  }
  if (packed_layers.empty()) return Writer(std::move(uses));
  packed_[tensor.name].format = tensor.format;
  packed_[tensor.name].words = tensor.words;
  packed_[tensor.name].layers = std::move(packed_layers);
  return PackedWriterOf(tensor, stored, content, std::move(uses));
}

Result<std::unique_ptr<TensorWriter>> ParameterWriter::WriterOf(const ParameterTensor& use, const NeededTensor& tensor,
                                                                const TensorInfo& stored, Content content) {
  const DType type = *stored.dtype;
  if (use.parameter.kind == ParameterId::Kind::kTable) {
    PERUSE_ASSIGN_OR_RETURN(EmbeddingTable* const table, Table(use, type == DType::kF64 ? DType::kF32 : type));
    if (content != Content::kScales && table->storage() == type) {
      return Writer(std::make_unique<TableWriter>(table, stored.name));
    }
  }
  const int64_t width = parameters_.cols(use.parameter);
  if (content == Content::kEncoded) {
    const int64_t row_bytes = FormatOf(parameters_.linear(use.parameter).precision).RowBytes(width);
    const auto write = [this, &use, &stored](int64_t first, auto payload) {
      return WriteEncoded(use, stored.name, first, payload);
    };
    return Writer(std::make_unique<ReadingWriter<RowReader>>(row_bytes, write));
  }
  const bool rounds = content == Content::kFloats && RoundsFirst(tensor, use);
  int64_t unit = rounds ? width : UnitElements(parameters_.placement(use));
  if (content == Content::kScales) {
    unit = use.parameter.kind == ParameterId::Kind::kWeight ? tensor.format->RowScales(width) : 1;
  }
  const auto write = [this, &use, &stored, content, rounds, width](int32_t first, std::span<const float> values) {
    if (!AllFinite(values)) return NotFinite(stored.name);
    if (content == Content::kScales) return WriteScales(use, first, values);
    if (!rounds) return WriteElements(use, first, values);
    PERUSE_ASSIGN_OR_RETURN(const std::span<const float> rounded, Rounded(use, values));
    return WriteElements(use, first * width / UnitElements(parameters_.placement(use)), rounded);
  };
  const int64_t units = ElementCount(stored.shape) / unit;
  return Writer(std::make_unique<ReadingWriter<FloatReader>>(type, units, unit, write));
}

std::unique_ptr<TensorWriter> ParameterWriter::PackedWriterOf(const NeededTensor& tensor, const TensorInfo& stored,
                                                              Content content, std::unique_ptr<TensorWriter> others) {
  auto writer = std::make_unique<PackedWriter>(*this, stored, tensor.name);
  if (content == Content::kScales) {
    const auto keep = [this, &tensor, &stored](int32_t, std::span<const float> scales) {
      if (!AllFinite(scales)) return NotFinite(stored.name);
      std::vector<float>& all = packed_[tensor.name].scales;
      if (!TryGrow(&all, scales.size())) return OutOfMemory("no memory for the scales of weights");
      all.insert(all.end(), scales.begin(), scales.end());
      return OkStatus();
    };
    writer->SetScales(std::make_unique<FloatReader>(*stored.dtype, ElementCount(stored.shape), 1, keep));
  }
  writer->SetNext(std::move(others));
  return writer;
}

// Writes runs of whole rows directly, and assembles other rows first.
Status ParameterWriter::WriteElements(const ParameterTensor& use, int64_t first, std::span<const float> values) {
  const Placement placement = parameters_.placement(use);
  const int64_t units = std::ssize(values) / UnitElements(placement);
  std::vector<float> changed;
  if (IsSoftmax(use.layout)) changed = SoftmaxOfRows(values, use.shape[1]);
  if (const float scale = ScaleOf(use.layout); scale != 1) {
    changed.assign(values.begin(), values.end());
    for (float& value : changed) value *= scale;
  }
  if (!changed.empty()) values = changed;
  staged_.clear();
  for (const ElementRun& run : RunsOf(placement, first, units)) {
    const auto from = static_cast<size_t>(run.from), count = static_cast<size_t>(run.count);
    if (run.step == 1 && run.count % placement.cols == 0) {
      PERUSE_RETURN_IF_ERROR(WriteRows(use.parameter, run.to / placement.cols, values.subspan(from, count)));
      continue;
    }
    if (run.to != staged_first_ + std::ssize(staged_)) PERUSE_RETURN_IF_ERROR(FlushStaged(use.parameter));
    if (staged_.empty()) staged_first_ = run.to;
    if (!TryGrow(&staged_, count)) return OutOfMemory("no memory to transpose a weight");
    for (size_t i = 0; i < count; ++i) staged_.push_back(values[from + i * static_cast<size_t>(run.step)]);
  }
  return FlushStaged(use.parameter);
}

Status ParameterWriter::FlushStaged(ParameterId id) {
  if (staged_.empty()) return OkStatus();
  const Status status = WriteRows(id, staged_first_ / parameters_.cols(id), staged_);
  staged_.clear();
  return status;
}

Status ParameterWriter::WriteRows(ParameterId id, int64_t first_row, std::span<const float> rows) {
  const auto first = static_cast<int32_t>(first_row);
  switch (id.kind) {
    case ParameterId::Kind::kWeight: {
      PERUSE_ASSIGN_OR_RETURN(const Weight weight, Linear(id));
      return WriteFloats(backend_, weight, parameters_.linear(id), first, rows, &encoded_);
    }
    case ParameterId::Kind::kBias: {
      PERUSE_ASSIGN_OR_RETURN(const Weight weight, Linear(id));
      return backend_.WriteBias(weight, first, rows);
    }
    case ParameterId::Kind::kConstant: {
      PERUSE_ASSIGN_OR_RETURN(const Tensor constant, Constant(id));
      return backend_.WriteConstant(constant, first, rows);
    }
    case ParameterId::Kind::kTable:
      return weights_.tables[static_cast<size_t>(id.number)].WriteRows(first, rows);
  }
  return OkStatus();
}

Status ParameterWriter::WriteEncoded(const ParameterTensor& use, const std::string& name, int64_t first,
                                     std::span<const uint8_t> payload) {
  PERUSE_ASSIGN_OR_RETURN(const Weight weight, Linear(use.parameter));
  const WeightFormat& format = FormatOf(parameters_.linear(use.parameter).precision);
  if (const Status status = format.CheckPayload(payload); !status.ok()) {
    return Status(status.code(), "tensor \"" + name + "\" " + std::string(status.message()));
  }
  const int64_t row_bytes = format.RowBytes(parameters_.cols(use.parameter));
  for (const ElementRun& run : RunsOfRows(parameters_, use, first, std::ssize(payload) / row_bytes)) {
    const std::span<const uint8_t> part =
        payload.subspan(static_cast<size_t>(run.from * row_bytes), static_cast<size_t>(run.count * row_bytes));
    PERUSE_RETURN_IF_ERROR(backend_.WriteRows(weight, static_cast<int32_t>(run.to), {part, {}}));
  }
  return OkStatus();
}

Status ParameterWriter::WriteScales(const ParameterTensor& use, int64_t first, std::span<const float> scales) {
  if (use.parameter.kind == ParameterId::Kind::kTable) {
    weights_.tables[static_cast<size_t>(use.parameter.number)].WriteScales(first, scales);
    return OkStatus();
  }
  PERUSE_ASSIGN_OR_RETURN(const Weight weight, Linear(use.parameter));
  const WeightFormat& format = FormatOf(parameters_.linear(use.parameter).precision);
  const int64_t of_row = format.RowScales(parameters_.cols(use.parameter));
  for (const ElementRun& run : RunsOfRows(parameters_, use, first, std::ssize(scales) / of_row)) {
    const std::span<const float> part =
        scales.subspan(static_cast<size_t>(run.from * of_row), static_cast<size_t>(run.count * of_row));
    PERUSE_RETURN_IF_ERROR(backend_.WriteRows(weight, static_cast<int32_t>(run.to), {{}, part}));
  }
  return OkStatus();
}

Result<Weight> ParameterWriter::Linear(ParameterId id) {
  Weight& weight = weights_.linears[static_cast<size_t>(id.number)];
  if (!weight.valid()) {
    PERUSE_ASSIGN_OR_RETURN(weight, backend_.CreateLinear(parameters_.linear(id)));
  }
  return weight;
}

Result<Tensor> ParameterWriter::Constant(ParameterId id) {
  Tensor& constant = weights_.constants[static_cast<size_t>(id.number)];
  if (!constant.valid()) {
    const ConstantSpec& spec = parameters_.constant(id);
    PERUSE_ASSIGN_OR_RETURN(constant, backend_.CreateConstant(spec.rows, spec.cols));
  }
  return constant;
}

Result<EmbeddingTable*> ParameterWriter::Table(const ParameterTensor& use, DType stored) {
  const TableSpec& spec = parameters_.table(use.parameter);
  EmbeddingTable* const table = &weights_.tables[static_cast<size_t>(use.parameter.number)];
  if (table->bytes() == 0) {
    PERUSE_RETURN_IF_ERROR(table->Allocate(spec.rows, spec.cols, FormatOf(precision_).TableType(stored, spec.words)));
  }
  return table;
}

}  // namespace peruse

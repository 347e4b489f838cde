// The checkpoint sink of a model: writes tensors to the parameters of a backend, in their formats. Allocates a parameter when its first
// bytes arrive, so that memory use follows the received bytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/backend/backend.h"
#include "core/base/status.h"
#include "core/program/parameters.h"
#include "core/weights/checkpoint.h"

namespace peruse {

// Returns the format in which a model of `precision` keeps a tensor's rows, and a checkpoint may store them; nullptr for floats. Files may
// store rows of linear layers in a format of tables, too.
const WeightFormat* RowFormat(const Parameters& parameters, const ParameterTensor& tensor, Precision precision);

class ParameterWriter : public CheckpointSink {
 public:
  // Stores handles of created parameters in `weights`, and the precisions of linear layers that files determine in `parameters`. All
  // arguments must outlive the writer.
  ParameterWriter(Backend& backend, Precision precision, Parameters& parameters, Weights& weights)
      : backend_(backend), precision_(precision), parameters_(parameters), weights_(weights) {}

  bool TakesEncoded(const ParameterTensor& use, DType type) const override;
  // Gives linear layers the formats of the file's rows: 8 bits if a tensor of the layer has them, 4 if all have.
  void OnFormats(std::span<const NeededTensor> tensors) override;
  Result<std::unique_ptr<TensorWriter>> Open(const NeededTensor& tensor, const TensorInfo& stored,
                                             Content content) override;

 private:
  Result<EmbeddingTable*> Table(const ParameterTensor& use, DType stored);
  // Writes whole units of a tensor of floats (UnitElements), from unit `first` on.
  Status WriteElements(const ParameterTensor& use, int64_t first, std::span<const float> values);
  // Writes whole rows that are stored in the format of the linear layer.
  Status WriteEncoded(const ParameterTensor& use, const std::string& name, int64_t first,
                      std::span<const uint8_t> payload);
  Status WriteScales(const ParameterTensor& use, int64_t first, std::span<const float> scales);
  // Whether rows of a linear layer are rounded first as files of the model's precision store them: as the table of token embeddings with the
  // same tensor, or because the backend multiplies another precision.
  bool RoundsFirst(const NeededTensor& tensor, const ParameterTensor& use) const;
  // Returns rows of floats after rounding them as the table of token embeddings does.
  Result<std::span<const float>> Rounded(const ParameterTensor& use, std::span<const float> rows);
  bool Multiplies(const WeightFormat& format, const ParameterTensor& use) const;
  bool IsCreated(ParameterId id) const { return weights_.linears[static_cast<size_t>(id.number)].valid(); }

  // A tensor on its way to linear layers of another format. Payload and scales arrive in any order.
  struct Packed {
    const WeightFormat* format = nullptr;
    bool words = false;
    std::vector<uint8_t> payload;
    std::vector<float> scales;
    std::vector<const ParameterTensor*> layers;
    int32_t parts = 0;  // complete ones of the two
  };
  class PackedWriter;
  // Returns the writer for one use of a tensor.
  Result<std::unique_ptr<TensorWriter>> WriterOf(const ParameterTensor& use, const NeededTensor& tensor,
                                                 const TensorInfo& stored, Content content);
  // Returns the writer for a tensor that linear layers have in another format. `others` writes its other uses.
  std::unique_ptr<TensorWriter> PackedWriterOf(const NeededTensor& tensor, const TensorInfo& stored, Content content,
                                               std::unique_ptr<TensorWriter> others);
  Status Unpack(const Packed& packed);

  Status WriteRows(ParameterId id, int64_t first_row, std::span<const float> rows);
  Status FlushStaged(ParameterId id);
  Result<Weight> Linear(ParameterId id);
  Result<Tensor> Constant(ParameterId id);

  Backend& backend_;
  const Precision precision_;
  Parameters& parameters_;
  Weights& weights_;
  EncodedBuffer encoded_;                 // scratch memory of WriteFloats
  std::vector<float> staged_;             // values of an incomplete row
  std::vector<float> rounded_;            // the result of Rounded
  std::map<std::string, Packed> packed_;  // by name, until complete
  int64_t staged_first_ = 0;              // index of the first staged element in its parameter
};

}  // namespace peruse

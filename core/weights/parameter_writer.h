// The sink of a model: writes a checkpoint's tensors to the parameters of a backend, in their formats.
//
// Memory for a parameter is allocated when its first bytes arrive, so memory use follows the bytes that came.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/backend/backend.h"
#include "core/base/status.h"
#include "core/program/parameters.h"
#include "core/weights/checkpoint.h"

namespace peruse {

// The format in which a checkpoint of a model of `precision` may hold the rows of a tensor. Null if it holds floats.
const WeightFormat* RowFormat(const Parameters& parameters, const ParameterTensor& tensor, Precision precision);

class ParameterWriter : public CheckpointSink {
 public:
  // Puts the handles of what it creates into `weights`. All arguments outlive the writer.
  ParameterWriter(Backend& backend, Precision precision, const Parameters& parameters, Weights& weights)
      : backend_(backend), precision_(precision), parameters_(parameters), weights_(weights) {}

  bool TakesEncoded(const ParameterTensor& use, DType type) const override;
  Result<std::unique_ptr<TensorWriter>> Open(const NeededTensor& tensor, const TensorInfo& stored,
                                             Content content) override;

 private:
  // The table of a use, allocated.
  Result<EmbeddingTable*> Table(const ParameterTensor& use, DType stored);
  // Whole units of a tensor of floats (UnitElements), from unit `first` on.
  Status WriteElements(const ParameterTensor& use, int64_t first, std::span<const float> values);
  // Whole rows of a tensor that holds them in the format of the linear.
  Status WriteEncoded(const ParameterTensor& use, const std::string& name, int64_t first,
                      std::span<const uint8_t> payload);
  Status WriteScales(const ParameterTensor& use, int64_t first, std::span<const float> scales);
  // Whole rows of a parameter, in its own order.
  Status WriteRows(ParameterId id, int64_t first_row, std::span<const float> rows);
  Status FlushStaged(ParameterId id);
  Result<Weight> Linear(ParameterId id);
  Result<Tensor> Constant(ParameterId id);

  Backend& backend_;
  const Precision precision_;
  const Parameters& parameters_;
  Weights& weights_;
  EncodedBuffer encoded_;      // scratch of WriteFloats
  std::vector<float> staged_;  // rows that are being put together
  int64_t staged_first_ = 0;   // the first element of staged_ in its parameter
};

}  // namespace peruse

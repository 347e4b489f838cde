// The interface between models and hardware: a backend stores weights, and runs plans (core/program/plan.h) on batches.
//
// core/ops defines each operation; a backend implements it in a file of the operation's name, as a function Run(runner, op). Rules for all
// implementations:
//  - Values may be column blocks of wider ones. A result never shares memory with an operand.
//  - A text's rows depend on that text only, not on the rest of the batch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/float_buffer.h"
#include "core/base/status.h"
#include "core/formats/embedding_table.h"
#include "core/formats/linear_spec.h"
#include "core/formats/weight_format.h"
#include "core/program/plan.h"
#include "core/tensor/ragged_batch.h"
#include "core/tensor/tensor.h"

namespace peruse {

// Packed weights of a linear layer: y = x W^T + b. The bias is zero until written.
struct Weight {
  int32_t id = -1;
  bool valid() const { return id >= 0; }
};

// Handles of a program's parameters in a backend, in the order of Parameters. Invalid handles are not loaded yet, or freed.
struct Weights {
  std::vector<Weight> linears;
  std::vector<Tensor> constants;
  std::vector<EmbeddingTable> tables;  // in host memory for every backend
};

// A batch's inputs to a run.
struct RunInputs {
  const RaggedBatch& batch;
  Sizes sizes;                                        // of the plan's domains
  std::span<const std::span<const int32_t>> indices;  // by IndexId
  std::span<const std::span<const float>> matrices;   // by ops::Input::number, row-major
};

// Receives each run, and each operation after it has run, for profiles.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void Begin(const Program& program, const RunInputs& inputs) = 0;
  virtual void Ran(const Op& op) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string_view name() const = 0;
  // Whether runs are only recorded; then results exist after a host has replayed the run.
  virtual bool deferred() const { return false; }

  // Prepares a plan's operations while weights arrive, for example by compiling shaders. Does not change results.
  virtual void Prepare(const Plan& plan) { (void)plan; }

  // ---- Weights and constants, which live as long as the backend, or until FreeLinear ------------------------------------

  virtual Result<Weight> CreateLinear(const LinearSpec& spec) = 0;
  // Writes rows of W, starting at `first_row`, each in / groups long, in the layer's format.
  virtual Status WriteRows(Weight weight, int32_t first_row, const EncodedRows& rows) = 0;
  virtual Status WriteBias(Weight weight, int32_t first, std::span<const float> values) = 0;
  // Frees a layer between runs, for example one that was only needed to fold constants. The handle becomes invalid.
  virtual void FreeLinear(Weight weight) = 0;

  // Creates a zero matrix that outlives runs. Operations may write to it (core/model/folding.h).
  virtual Result<Tensor> CreateConstant(int32_t rows, int32_t cols) = 0;
  virtual Status WriteConstant(Tensor constant, int32_t first_row, std::span<const float> rows) = 0;

  virtual int64_t WeightBytes() const = 0;

  // ---- Runs ------------------------------------------------------------------------------------------------

  // Computes or records a run, replacing the last. results[i] receives the values of output i by the end of Submit; constants are not
  // copied. Errors: kOutOfMemory. Submit is only needed after a success.
  virtual Status Run(const Plan& plan, const Weights& weights, const RunInputs& inputs,
                     std::span<FloatBuffer> results) = 0;
  // Completes the run. After an error all results are invalid.
  virtual Status Submit() { return OkStatus(); }

  // Sets the observer of later runs, which it outlives; null for none.
  void set_observer(RunObserver* observer) { observer_ = observer; }

 protected:
  RunObserver* observer_ = nullptr;
};

// ---- Shared by backends -----------------------------------------------------------------------------------------------

// Checks a layer's sizes. Errors: kUnsupported if its format cannot store it.
Status CheckSpec(const LinearSpec& spec);
// Checks that encoded rows are whole rows in the layer's format and within the layer.
void CheckRows(const LinearSpec& spec, int32_t first_row, const EncodedRows& rows);

// Encodes and writes rows of floats; `buffer` is scratch memory.
Status WriteFloats(Backend& backend, Weight weight, const LinearSpec& spec, int32_t first_row,
                   std::span<const float> rows, EncodedBuffer* buffer);

}  // namespace peruse

// A backend stores weights, and runs plans (core/program/plan.h) on batches. core/ops defines each operation; a backend implements it in a
// file of the operation's name, as a function Run(runner, op). Rules for all implementations:
// - Values may be column blocks of wider ones. A result never shares memory with an operand.
// - Rows of a text depend on that text only, not on the rest of the batch.
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

namespace peruse::cpu {
class ThreadPool;
}

namespace peruse {

// Handle of a linear layer, y = x W^T + b, in a backend. Its weights are packed; its bias is zero until written.
struct Weight {
  int32_t id = -1;
  bool valid() const { return id >= 0; }
};

// A program's parameters in a backend, in the order of Parameters. Invalid handles are not loaded yet, or already freed.
struct Weights {
  std::vector<Weight> linears;
  std::vector<Tensor> constants;
  std::vector<EmbeddingTable> tables;  // in host memory, for every backend
};

struct RunInputs {
  const RaggedBatch& batch;
  Sizes sizes;                                        // of the plan's domains
  std::span<const std::span<const int32_t>> indices;  // indexed by IndexId
  std::span<const std::span<const float>> matrices;   // indexed by ops::Input::number, row-major
};

// Receives calls for each run, and for each operation after it has run, to profile them.
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
  // Whether the backend only records runs. Results then exist once the host has replayed the run.
  virtual bool deferred() const { return false; }
  // The threads that compute on the host; null means none.
  virtual const cpu::ThreadPool* pool() const { return nullptr; }

  // Prepares a plan's operations, for example by compiling shaders, while weights arrive. Does not change results. Errors: kUnsupported if the
  // backend cannot run an operation.
  virtual Status Prepare(const Plan& plan) {
    (void)plan;
    return OkStatus();
  }

  // The backend owns weights, until FreeLinear, and constants.

  // Returns the precision of a model whose layers this backend can multiply, for a model of `precision`.
  virtual Precision LinearPrecision(Precision precision) const { return precision; }
  virtual Result<Weight> CreateLinear(const LinearSpec& spec) = 0;
  // Writes rows of W from `first_row` on, each in / groups long, in the layer's format.
  virtual Status WriteRows(Weight weight, int32_t first_row, const EncodedRows& rows) = 0;
  virtual Status WriteBias(Weight weight, int32_t first, std::span<const float> values) = 0;
  // Frees a layer, for example one that was only needed to fold constants. Must not be called during a run.
  virtual void FreeLinear(Weight weight) = 0;

  // Creates a zero matrix that outlives runs. Operations may write to it (core/model/folding.h).
  virtual Result<Tensor> CreateConstant(int32_t rows, int32_t cols) = 0;
  virtual Status WriteConstant(Tensor constant, int32_t first_row, std::span<const float> rows) = 0;

  virtual int64_t WeightBytes() const = 0;

  // Computes or records a run; the results of the previous run become invalid. results[i] receives the values of output i by the end of
  // Submit, unless the output is a constant. Errors: kOutOfMemory. Submit must only follow a success.
  virtual Status Run(const Plan& plan, const Weights& weights, const RunInputs& inputs,
                     std::span<FloatBuffer> results) = 0;
  virtual Status Submit() { return OkStatus(); }

  // The observer must outlive the backend; nullptr removes it.
  void set_observer(RunObserver* observer) { observer_ = observer; }

 protected:
  RunObserver* observer_ = nullptr;
};

Status CheckSpec(const LinearSpec& spec);
void CheckRows(const LinearSpec& spec, int32_t first_row, const EncodedRows& rows);

Status WriteFloats(Backend& backend, Weight weight, const LinearSpec& spec, int32_t first_row,
                   std::span<const float> rows, EncodedBuffer* buffer);

}  // namespace peruse

// The seam between models and machines: a backend keeps weights, and runs plans (core/program/plan.h) on batches.
//
// What each operation means stands in core/ops; how a backend computes it, in a file of the operation's name in its folder:
// a function Run(runner, op). Rules that hold for all of them
//  - Values may be column blocks of wider ones. A result never shares memory with an operand.
//  - A text's rows depend on that text alone, whatever else is in the batch.
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

// A linear layer's packed weights: y = x W^T + b. The bias is zero until written.
struct Weight {
  int32_t id = -1;
  bool valid() const { return id >= 0; }
};

// The parameters of a program in a backend: their handles, in the order of Parameters. Not valid: not loaded yet, or freed.
struct Weights {
  std::vector<Weight> linears;
  std::vector<Tensor> constants;
  std::vector<EmbeddingTable> tables;  // in host memory, whatever the backend
};

// What a batch brings to a run.
struct RunInputs {
  const RaggedBatch& batch;
  Sizes sizes;                                        // of the plan's domains
  std::span<const std::span<const int32_t>> indices;  // by IndexId
  std::span<const std::span<const float>> matrices;   // by ops::Input::number, row-major
};

// Is told of each run, and of each operation when it has run: for a profile.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void Begin(const Program& program, const RunInputs& inputs) = 0;
  virtual void Ran(const Op& op) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  // "reference", "xnnpack", ...
  virtual std::string_view name() const = 0;
  // Whether runs are only recorded: results are there once a host has replayed the run, not before.
  virtual bool deferred() const { return false; }

  // Time to get ready for a plan's operations while weights arrive: compiling shaders, say. Changes no result.
  virtual void Prepare(const Plan& plan) { (void)plan; }

  // ---- Weights and constants: they live until the backend does, or FreeLinear. ---------------------------

  virtual Result<Weight> CreateLinear(const LinearSpec& spec) = 0;
  // Rows of W from `first_row` on, each in / groups long, in the format of the layer.
  virtual Status WriteRows(Weight weight, int32_t first_row, const EncodedRows& rows) = 0;
  virtual Status WriteBias(Weight weight, int32_t first, std::span<const float> values) = 0;
  // Gives a layer's memory back, between runs: for one that was needed only to fold constants. It is not to be used again.
  virtual void FreeLinear(Weight weight) = 0;

  // A matrix that outlives runs, of zeros. An operation may write to it (core/model/folding.h).
  virtual Result<Tensor> CreateConstant(int32_t rows, int32_t cols) = 0;
  virtual Status WriteConstant(Tensor constant, int32_t first_row, std::span<const float> rows) = 0;

  // Bytes of weights and constants.
  virtual int64_t WeightBytes() const = 0;

  // ---- Runs ------------------------------------------------------------------------------------------------

  // Computes or records a run, and forgets the last. By number of output: results[i] gets its values by the end of Submit; of
  // constants nothing is handed out. kOutOfMemory. A run that failed needs no Submit.
  virtual Status Run(const Plan& plan, const Weights& weights, const RunInputs& inputs,
                     std::span<FloatBuffer> results) = 0;
  // Completes the run. On failure no result is meaningful.
  virtual Status Submit() { return OkStatus(); }

  // Of the runs to come; null: nobody. Outlives them.
  void set_observer(RunObserver* observer) { observer_ = observer; }

 protected:
  RunObserver* observer_ = nullptr;
};

// ---- What backends share --------------------------------------------------------------------------------------------

// That a layer's sizes make sense. kUnsupported: its format cannot hold it.
Status CheckSpec(const LinearSpec& spec);
// Checks that encoded rows are whole rows of a linear in its format, and not beyond its last.
void CheckRows(const LinearSpec& spec, int32_t first_row, const EncodedRows& rows);

// Encodes rows of floats and writes them; `buffer` is scratch memory.
Status WriteFloats(Backend& backend, Weight weight, const LinearSpec& spec, int32_t first_row,
                   std::span<const float> rows, EncodedBuffer* buffer);

}  // namespace peruse

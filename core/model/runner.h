// Runs a loaded model over batches of texts.
//
//   std::unique_ptr<Runner> runner = CreateRunner(model);
//   runner->Begin(texts);  runner->Finish();  runner->output(kLogits);
//
// A call that fails leaves the runner usable.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/families/config.h"
#include "core/heads/heads.h"
#include "core/model/attention_terms.h"
#include "core/model/loaded_model.h"
#include "core/program/indices.h"
#include "core/tensor/ragged_batch.h"

namespace peruse {

struct RunOptions {
  // The outputs to compute, from Runner::Outputs(). Empty means the head's.
  std::span<const OutputId> outputs = {};
  // Head::kMaskedLm: the rows of the batch to score, in this order; empty means all. A row of logits has a column per token of the
  // vocabulary.
  std::span<const int32_t> logit_rows = {};
  // Head::kEntities and GLiClass: the head's inputs for the one text of the batch. A bi-encoder's label vectors are the output
  // kLabelVectors of a run over labels, which does not need this.
  HeadInputs head_inputs = {};
  // Factors of each head's result, [attention_layers, attention_heads]: transformers' head_mask. Empty means 1.
  std::span<const float> head_mask = {};
};

// The values of one output, row-major. Empty if the output was not requested.
struct ModelOutput {
  std::span<const float> values;
  Extent rows;  // the number of rows for each token, text, ...
  int32_t cols = 0;

  int32_t row_count() const { return cols == 0 ? 0 : static_cast<int32_t>(values.size() / static_cast<size_t>(cols)); }
};

// The error of a run whose `what` has NaN or infinity.
Status NotFinite(std::string_view what);

class Runner {
 public:
  virtual ~Runner() = default;

  virtual const ModelConfig& config() const = 0;
  virtual Head head() const = 0;

  // One run over a ragged batch: Begin records the operations, Finish completes them. Errors of Begin: kInvalidArgument (no texts, an
  // unknown output, ids, type ids or rows out of range, lengths that differ), kEmptyText, kTextTooLong, kOutOfMemory. Errors of Finish:
  // kOutOfMemory; kUnsupported if a result is NaN or infinity.
  virtual Status Begin(std::span<const ModelInput> inputs, const RunOptions& options = {}) = 0;
  virtual Status Finish() = 0;

  // ---- Results of the last finished run, valid until the next Begin -----------------------------------------------------

  virtual const RaggedBatch& batch() const = 0;
  virtual ModelOutput output(OutputId id) const = 0;

  // ---- Outputs that can be requested ------------------------------------------------------------------------------------

  // kLogits have rows for texts, tokens, or RunOptions::logit_rows; their columns are num_labels, 2 (start, end) for question answering,
  // the vocabulary, or 1. Row start(s) * heads + h * length(s) + i of kAttention is sequence s, head h, query i; columns past length(s) are
  // zero.
  virtual std::vector<OutputId> Outputs() const = 0;
  // 0 if the model lacks them.
  virtual int32_t attention_heads() const = 0;
  // Number of layers with head_mask.
  virtual int32_t attention_layers() const { return 0; }
  virtual int32_t span_kernel_heads() const = 0;
  // The terms of the last run over one text, if it computed the layer's kQuery and kKey, and, if the model has them, kPositionKey and
  // kPositionQuery.
  virtual AttentionTerms attention_terms(int32_t layer) const { return (void)layer, AttentionTerms(); }
};

std::unique_ptr<Runner> CreateRunner(std::shared_ptr<const LoadedModel> model);

}  // namespace peruse

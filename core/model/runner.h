// Runs a loaded model over batches of texts. A runner stays usable after errors.
//
//   std::unique_ptr<Runner> runner = CreateRunner(model);
//   runner->Begin(texts);  runner->Finish();  runner->output(kLogits);
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
#include "core/model/attention_maps.h"
#include "core/model/loaded_model.h"
#include "core/program/indices.h"
#include "core/tensor/ragged_batch.h"

namespace peruse {

struct RunOptions {
  // The outputs to compute, from Runner::Outputs(). Empty means the outputs of the head.
  std::span<const OutputId> outputs = {};
  // Head::kMaskedLm: the rows of the batch to score, in this order; empty means all. Each gives a row of logits, one per vocabulary token.
  std::span<const int32_t> logit_rows = {};
  // Head::kEntities and GLiClass: the head's inputs for a batch of one text. A bi-encoder's label vectors come from an earlier run over
  // labels, as output kLabelVectors; that run does not need head_inputs.
  HeadInputs head_inputs = {};
  // Factors of each head's result (transformers' head_mask), [attention_layers, attention_heads]. Empty means 1.
  std::span<const float> head_mask = {};
  // For a batch of one text: the number of leading tokens that attention reads. The others attend to these, too, but are not read. 0 means all.
  int32_t keys = 0;
};

// The values of one output, row-major. Empty if the output was not requested.
struct ModelOutput {
  std::span<const float> values;
  Extent rows;  // row count in terms of tokens, texts, ...
  int32_t cols = 0;

  int32_t row_count() const { return cols == 0 ? 0 : static_cast<int32_t>(values.size() / static_cast<size_t>(cols)); }
};

Status NotFinite(std::string_view what);

class Runner {
 public:
  virtual ~Runner() = default;

  virtual const ModelConfig& config() const = 0;
  virtual Head head() const = 0;

  // Runs the model over a ragged batch: Begin records the operations, Finish completes them. Errors of Begin: kInvalidArgument (no texts,
  // an unknown output, ids, type ids or rows out of range, lengths that differ), kEmptyText, kTextTooLong, kOutOfMemory. Errors of Finish:
  // kOutOfMemory; kUnsupported if a result is NaN or infinity.
  virtual Status Begin(std::span<const ModelInput> inputs, const RunOptions& options = {}) = 0;
  virtual Status Finish() = 0;

  // The functions below return results of the last finished run, valid until the next Begin.

  virtual const RaggedBatch& batch() const = 0;
  virtual ModelOutput output(OutputId id) const = 0;

  // Returns the outputs that RunOptions may request. Rows of kLogits: texts, tokens, or RunOptions::logit_rows; columns: num_labels, 2
  // (start, end) for question answering, the vocabulary, or 1. Row start(s) * heads + h * length(s) + i of kAttention is sequence s, head
  // h, query i; columns past length(s) are zero.
  virtual std::vector<OutputId> Outputs() const = 0;
  virtual int32_t attention_heads() const = 0;  // 0 without attention
  virtual int32_t attention_layers() const { return 0; }
  virtual int32_t span_kernel_heads() const = 0;
  // Returns the terms of attention scores. Precondition: the last run had one text, and the layer's outputs kQuery, kKey and, if the model
  // has them, kPositionKey and kPositionQuery.
  virtual AttentionTerms attention_terms(int32_t layer) const { return (void)layer, AttentionTerms(); }
};

std::unique_ptr<Runner> CreateRunner(std::shared_ptr<const LoadedModel> model);

}  // namespace peruse

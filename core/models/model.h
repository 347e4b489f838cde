// A checkpoint, ready to run: configuration, weights in a backend, encoder and one head.
//
//   auto model = Model::Create(config_json, {.head = Head::kSequenceClassification}, backend);
//   while (more) model->FeedWeights(chunk);
//   model->FinishWeights();
//   model->Begin(texts);  model->Finish();  model->logits();
//
// A call that fails leaves the model as it was, but for loading: after a failed FeedWeights or FinishWeights the
// model can only be destroyed, and every further call returns the same error.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/backend/backend.h"
#include "core/base/status.h"
#include "core/models/config.h"
#include "core/tensor/ragged_batch.h"

namespace peruse {

// One text. type_ids may be empty: all zeros.
struct ModelInput {
  std::span<const int32_t> ids;       // token ids, special tokens included
  std::span<const int32_t> type_ids;  // segment of each token
};

struct ModelOptions {
  Head head = Head::kNone;
  // Of the linear layers of the encoder. Unset: kQ8 for a q8 checkpoint, `usual_precision` for others.
  std::optional<Precision> precision;
  Precision usual_precision = Precision::kF32;
  // DeBERTa's masked-LM head after its enhanced mask decoder, as in pre-training (spec: Part D6). transformers
  // leaves it out.
  bool enhanced_mask_decoder = false;
};

struct RunOptions {
  bool hidden_states = false;  // keep the embedding output and the output of every layer
  bool attentions = false;     // keep attention probabilities
  bool span_kernels = false;   // keep ConvBERT's span kernels
  // Head::kMaskedLm: the rows of the batch to score, in this order; empty: all. A row of logits is a vocabulary wide.
  std::span<const int32_t> logit_rows;
};

// What loading found.
struct LoadReport {
  Precision precision = Precision::kF32;
  int32_t tensors_used = 0;
  std::vector<std::string> extra_tensors;  // in the file, not needed
  std::vector<std::string> head_tensors;   // the tensors that the head was made of
  int64_t weight_bytes = 0;                // held for weights, constants and embedding tables
};

class Model {
 public:
  // Reads the configuration; no weights yet. `backend` outlives the Model.
  // Errors: those of ParseModelConfig; kMissingHead when the architecture has no such head.
  static Result<std::unique_ptr<Model>> Create(std::string_view config_json, const ModelOptions& options,
                                               Backend& backend);
  virtual ~Model() = default;

  // For a sharded checkpoint: model.safetensors.index.json. Gives the shards' file names, in the order in which to
  // feed them, with EndShard after each. Errors: kMalformedFile, kMissingTensor, kMissingHead.
  virtual Result<std::vector<std::string>> SetShardIndex(std::string_view index_json) = 0;
  // The end of a shard's file: it must have been whole (else kTruncatedFile).
  virtual Status EndShard() = 0;

  // model.safetensors, in chunks of any size. Errors: kMalformedFile, kMissingTensor, kShapeMismatch, kMissingHead,
  // kUnsupported, kOutOfMemory. Whatever can be told from the header is told before the body is read.
  virtual Status FeedWeights(std::span<const uint8_t> chunk) = 0;
  // The end of the file: everything must have come (else kTruncatedFile). Folds constants.
  virtual Status FinishWeights() = 0;

  virtual const ModelConfig& config() const = 0;
  virtual Head head() const = 0;
  virtual const LoadReport& load_report() const = 0;

  // One run over a ragged batch: Begin records the operations, Finish completes them.
  // Errors of Begin: kInvalidArgument (no texts, ids, type ids or rows out of range, lengths that differ), kEmptyText,
  // kTextTooLong, kOutOfMemory. Finish: kOutOfMemory.
  virtual Status Begin(std::span<const ModelInput> inputs, const RunOptions& options = {}) = 0;
  virtual Status Finish() = 0;

  // ---- What the last finished run gave. Spans live until the next Begin. --------------------------------------

  virtual const RaggedBatch& batch() const = 0;

  // [logit_rows, logit_cols]. Rows are sequences for kSequenceClassification and kMultipleChoice, else tokens (or
  // RunOptions::logit_rows of them).
  // Columns are num_labels; 2 (start, end) for kQuestionAnswering; the vocabulary for kMaskedLm; 1 for
  // kMultipleChoice and kReplacedTokenDetection. Empty for Head::kNone.
  virtual std::span<const float> logits() const = 0;
  virtual int32_t logit_rows() const = 0;
  virtual int32_t logit_cols() const = 0;

  // [rows, hidden_size], for Head::kNone.
  virtual std::span<const float> last_hidden() const = 0;

  // With RunOptions::hidden_states. 0 is the embedding output, then one for each layer: [rows, hidden_size].
  virtual int32_t hidden_state_count() const = 0;
  virtual std::span<const float> hidden_state(int32_t index) const = 0;

  // With RunOptions::attentions. For each layer [sum over sequences of heads * length, longest length]: row
  // start(s) * heads + h * length(s) + i holds sequence s, head h, query i; columns past length(s) are zero.
  virtual int32_t attention_count() const = 0;
  virtual int32_t attention_heads() const = 0;
  virtual std::span<const float> attention(int32_t layer) const = 0;

  // With RunOptions::span_kernels and ConvBERT. For each layer [rows, heads * conv_kernel_size].
  virtual int32_t span_kernel_count() const = 0;
  virtual std::span<const float> span_kernel(int32_t layer) const = 0;
};

}  // namespace peruse

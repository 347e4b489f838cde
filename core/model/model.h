// A checkpoint, ready to run: configuration, weights in a backend, encoder and one head.
//
//   auto model = Model::Create(config_json, {.head = Head::kSequenceClassification}, backend);
//   while (more) model->FeedWeights(chunk);
//   model->FinishWeights();
//   model->Begin(texts);  model->Finish();  model->output("logits");
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
#include "core/families/config.h"
#include "core/heads/heads.h"
#include "core/model/attention_terms.h"
#include "core/ops/value.h"
#include "core/program/indices.h"
#include "core/tensor/ragged_batch.h"
#include "core/weights/lora.h"

namespace peruse {

class Model;

struct ModelOptions {
  Head head = Head::kNone;
  // Of the linear layers of the encoder. Unset: kQ8 for a q8 checkpoint, `usual_precision` for others.
  std::optional<Precision> precision;
  Precision usual_precision = Precision::kF32;
  // DeBERTa's masked-LM head after its enhanced mask decoder, as in pre-training (He et al., 2020, section 3.2).
  // transformers leaves it out.
  bool enhanced_mask_decoder = false;
  // A loaded model of the same config.json, of this backend and made by Create: what it holds is used and not read again.
  const Model* beside = nullptr;
  // Rows of the word embeddings, where the configuration leaves them to the tokenizer (old GLiNER releases).
  int32_t vocabulary = 0;
};

struct RunOptions {
  // The outputs to give, of OutputNames(); empty: those of the head.
  std::span<const std::string> outputs = {};
  // Head::kMaskedLm: the rows of the batch to score, in this order; empty: all. A row of logits is a vocabulary wide.
  std::span<const int32_t> logit_rows = {};
  // Head::kEntities and GLiClass: what the head reads beside the one text of the batch. A bi-encoder's label vectors are the
  // output kLabelVectors of a run over labels, which needs none of this.
  HeadInputs head_inputs = {};
  // [attention_layers, attention_heads]: what the result of each head is multiplied by, which is transformers' head_mask; empty: nothing.
  std::span<const float> head_mask = {};
};

// What a run gave for one output, row by row. No values: nobody asked for it.
struct ModelOutput {
  std::span<const float> values;
  Extent rows;  // so many for each token, text, ...
  int32_t cols = 0;

  int32_t row_count() const { return cols == 0 ? 0 : static_cast<int32_t>(values.size() / static_cast<size_t>(cols)); }
};

// The error of a run whose `what` holds NaN or infinity.
Status NotFinite(std::string_view what);

// What loading found.
struct LoadReport {
  Precision precision = Precision::kF32;
  int32_t tensors_used = 0;
  std::vector<std::string> extra_tensors;  // in the file, not needed
  std::vector<std::string> head_tensors;   // the tensors that the head was made of
  int64_t weight_bytes = 0;                // of weights, constants and embedding tables
};

class Model {
 public:
  // Reads the configuration; no weights yet. `backend` outlives the Model.
  // Errors: those of ParseModelConfig; kMissingHead when the architecture has no such head.
  static Result<std::unique_ptr<Model>> Create(std::string_view config_json, const ModelOptions& options,
                                               Backend& backend);
  virtual ~Model() = default;

  // Whether a file of weights is to be fed; not where all of them come from ModelOptions::beside.
  virtual bool needs_weights() const { return true; }

  // A LoRA adapter, whole, to be merged into the weights as they are read; before any of them.
  virtual Status SetAdapter(std::unique_ptr<LoraAdapter> adapter) = 0;

  // For a sharded checkpoint: its index. Gives the shards' file names, in the order in which to
  // feed them, with EndShard after each. Errors: kMalformedFile, kMissingTensor, kMissingHead.
  virtual Result<std::vector<std::string>> SetShardIndex(std::string_view index_json) = 0;
  // The end of a shard's file: it must have been whole (else kTruncatedFile).
  virtual Status EndShard() = 0;

  // A file of weights (safetensors or PyTorch), in chunks of any size. Errors: kMalformedFile, kMissingTensor, kShapeMismatch, kMissingHead,
  // kUnsupported, kOutOfMemory. Whatever can be told from the header is told before the body is read.
  virtual Status FeedWeights(std::span<const uint8_t> chunk) = 0;
  // The end of the file: everything must have come (else kTruncatedFile). Folds constants.
  virtual Status FinishWeights() = 0;

  virtual const ModelConfig& config() const = 0;
  virtual Head head() const = 0;
  virtual const LoadReport& load_report() const = 0;
  // What a call computes without inspection; null: the model has none.
  virtual const Program* program() const { return nullptr; }

  // One run over a ragged batch: Begin records the operations, Finish completes them.
  // Errors of Begin: kInvalidArgument (no texts, an output that the model has not, ids, type ids or rows out of range,
  // lengths that differ), kEmptyText, kTextTooLong, kOutOfMemory. Finish: kOutOfMemory; kUnsupported where a result is not
  // a finite number.
  virtual Status Begin(std::span<const ModelInput> inputs, const RunOptions& options = {}) = 0;
  virtual Status Finish() = 0;

  // ---- What the last finished run gave. Spans live until the next Begin. --------------------------------------

  virtual const RaggedBatch& batch() const = 0;
  // One of OutputNames().
  virtual ModelOutput output(std::string_view name) const = 0;

  // ---- What it can give. ---------------------------------------------------------------------------------------

  // Of the head: "logits". Its rows are texts, tokens, or RunOptions::logit_rows; its columns num_labels, 2 (start, end) of
  // question answering, the vocabulary, or 1. Without a head "last_hidden_state", [tokens, hidden_size].
  // On the way: "hidden.0" (the embeddings), "hidden.1" (the first layer), ...: [tokens, hidden_size];
  // "attention.0", ...: [heads for each token, longest text]: row start(s) * heads + h * length(s) + i is sequence s, head h,
  // query i, and columns past length(s) are zero; "span_kernel.0", ... of ConvBERT: [tokens, heads * conv_kernel_size].
  // Of DeBERTa "query.0", "key.0", ...: [tokens, hidden_size], and "position_key.0", "position_query.0", ...: [slots, hidden_size].
  virtual std::vector<std::string> OutputNames() const = 0;
  // 0: the model has none.
  virtual int32_t attention_heads() const = 0;
  // Layers whose heads head_mask multiplies.
  virtual int32_t attention_layers() const { return 0; }
  // Of the last run, of one text, which gave the layer's "query", "key" and, as far as there are such, "position_key" and "position_query".
  virtual AttentionTerms attention_terms(int32_t layer) const { return (void)layer, AttentionTerms(); }
  virtual int32_t span_kernel_heads() const = 0;
};

}  // namespace peruse

// Loads a checkpoint: configuration, weights in a backend, encoder and one head. After an error, further calls return the same error.
//
//   auto loader = ModelLoader::Create(config_json, {.head = Head::kSequenceClassification}, backend);
//   while (more) loader->Feed(chunk);
//   std::shared_ptr<const LoadedModel> model = loader->Finish();
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
#include "core/families/family.h"
#include "core/model/loaded_model.h"
#include "core/text/tokenizer.h"
#include "core/weights/checkpoint.h"
#include "core/weights/parameter_writer.h"

namespace peruse {

struct ModelOptions {
  Head head = Head::kNone;
  // The precision of the weights. nullopt: the one in which a q8 or q4 checkpoint is stored, `usual_precision` for others.
  std::optional<Precision> precision;
  Precision usual_precision = Precision::kF32;
  // Uses DeBERTa's enhanced mask decoder before the masked-LM head, as in pre-training (He et al., 2020); transformers does not.
  bool enhanced_mask_decoder = false;
  SparsePooling sparse_pooling = {};  // for Head::kVocabulary
  int32_t token_vector = 0;           // for Head::kTokenVectors
  // Whether modules.json says how the folder turns texts into vectors. Otherwise a checkpoint of a causal language model is refused.
  bool has_modules = false;
  // A loaded model of the same config.json in the same backend. Its weights are shared instead of loaded again.
  const LoadedModel* beside = nullptr;
  // Label names, which determine the number of labels. Empty means the names in config.json.
  std::vector<std::string> id2label;
  std::vector<int32_t> score_tokens;  // see ModelConfig
  std::optional<int32_t> vocab_size;  // nullopt means that of config.json
  // Determines the number of rows of the token embeddings if the configuration does not. May be null.
  const text::Tokenizer* tokenizer = nullptr;
};

class ModelLoader {
 public:
  // Parses the configuration. `backend` must outlive the loader and the model. Errors: those of ReadFamily; kMissingHead.
  static Result<std::unique_ptr<ModelLoader>> Create(std::string_view config_json, const ModelOptions& options,
                                                     Backend& backend);
  ~ModelLoader();

  const ModelConfig& config() const { return model_->config; }
  const Program& program() const { return model_->plan.program; }
  // Returns false if ModelOptions::beside has all weights, so that none must be fed.
  bool needs_weights() const { return needs_weights_; }
  // Bytes that weights, constants and embedding tables will take, without padding. Before a header is read, assumes that the checkpoint
  // stores float32.
  int64_t WeightBytes() const;
  // Whether the names of the checkpoint's tensors are known; names and shapes that do not fit are errors by then.
  bool header_read() const { return checkpoint_->resolved(); }

  // Returns the number of labels of the adapter's classifier if it differs from the model's; the caller then needs a new loader with
  // ModelOptions::id2label. Otherwise returns nullopt.
  std::optional<int32_t> LabelsOf(const LoraAdapter& adapter) const;
  // Returns the number of token embeddings that the adapter holds if it differs from the model's: it was trained after tokens were added. The
  // caller then needs a new loader with ModelOptions::vocab_size.
  std::optional<int32_t> TokensOf(const LoraAdapter& adapter) const;

  // See Checkpoint::SetAdapter. Errors: kUnsupported if the adapter changes tied token embeddings.
  Status SetAdapter(std::unique_ptr<LoraAdapter> adapter);
  Result<std::vector<std::string>> SetShardIndex(std::string_view index_json) {
    return checkpoint_->SetShardIndex(index_json);
  }
  Status EndShard() { return checkpoint_->EndShard(); }
  Status Feed(std::span<const uint8_t> chunk) { return checkpoint_->Feed(chunk); }
  // Completes the weights and computes constants that only depend on them. The loader cannot be used afterwards.
  Result<std::shared_ptr<const LoadedModel>> Finish();

 private:
  ModelLoader(ConfiguredFamily family, const ModelOptions& options, Backend& backend);
  Status BuildProgram(const ModelOptions& options);
  void Share(const LoadedModel& other);
  void ReportSharedTensors(const LoadedModel& other);
  void HoldLinears();
  Status FoldConstants();
  void FillReport();
  // Compares a masked LM's token embeddings with a decoder matrix that config.json says is the same.
  void CompareDecoder();
  // Adds a notice about weights that no head of the family reads.
  void ReportUnread();

  Backend& backend_;
  const std::unique_ptr<Family> family_;
  const std::shared_ptr<LoadedModel> model_;  // complete after Finish
  Plan folding_plan_;
  bool has_folded_ = false;  // whether constants are shared with the other model (ModelOptions::beside)
  bool needs_weights_ = true;
  std::unique_ptr<ParameterWriter> writer_;
  std::unique_ptr<Checkpoint> checkpoint_;
};

}  // namespace peruse

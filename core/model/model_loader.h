// Loads a checkpoint: configuration, weights in a backend, encoder and one head.
//
//   auto loader = ModelLoader::Create(config_json, {.head = Head::kSequenceClassification}, backend);
//   while (more) loader->Feed(chunk);
//   std::shared_ptr<const LoadedModel> model = loader->Finish();
//
// After a failed call the loader can only be destroyed; every further call returns the same error.
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
#include "core/weights/checkpoint.h"
#include "core/weights/parameter_writer.h"

namespace peruse {

struct ModelOptions {
  Head head = Head::kNone;
  // Format of the encoder's linear layers. Unset: kQ8 for a q8 checkpoint, `usual_precision` for others.
  std::optional<Precision> precision;
  Precision usual_precision = Precision::kF32;
  // DeBERTa's masked-LM head after its enhanced mask decoder, as in pre-training (He et al., 2020, section 3.2).
  // transformers leaves it out.
  bool enhanced_mask_decoder = false;
  // A model of the same config.json in the same backend: what it holds is used and not read again.
  const LoadedModel* beside = nullptr;
  // Names of the labels, and thereby their number. If empty, those of config.json count.
  std::vector<std::string> id2label;
  // Rows of the word embeddings, where the configuration leaves them to the tokenizer (old GLiNER releases).
  int32_t vocabulary = 0;
};

class ModelLoader {
 public:
  // Reads the configuration; no weights yet. `backend` outlives the loader and the model.
  // Errors: those of ReadFamily; kMissingHead if the architecture lacks the head.
  static Result<std::unique_ptr<ModelLoader>> Create(std::string_view config_json, const ModelOptions& options,
                                                     Backend& backend);
  ~ModelLoader();

  const ModelConfig& config() const { return model_->config; }
  // The program that computes the head's outputs.
  const Program& program() const { return model_->plan.program; }
  // Whether a file of weights must be fed: not if ModelOptions::beside has all of them.
  bool needs_weights() const { return needs_weights_; }

  // The number of labels that the adapter's classifier has, if it differs from that of the model: a loader must then be created
  // for it (ModelOptions::id2label). Otherwise, and for heads without labels, nothing.
  std::optional<int32_t> LabelsOf(const LoraAdapter& adapter) const;

  // As in Checkpoint; kUnsupported if the adapter changes tied word embeddings.
  Status SetAdapter(std::unique_ptr<LoraAdapter> adapter);
  Result<std::vector<std::string>> SetShardIndex(std::string_view index_json) {
    return checkpoint_->SetShardIndex(index_json);
  }
  Status EndShard() { return checkpoint_->EndShard(); }
  Status Feed(std::span<const uint8_t> chunk) { return checkpoint_->Feed(chunk); }
  // The end of the weights. Computes the constants that depend on weights alone. The loader can only be destroyed then.
  Result<std::shared_ptr<const LoadedModel>> Finish();

 private:
  ModelLoader(ConfiguredFamily family, const ModelOptions& options, Backend& backend);
  Status BuildProgram(const ModelOptions& options);
  // Takes over what `other` holds of the weights.
  void Share(const LoadedModel& other);
  void ReportSharedTensors(const LoadedModel& other);
  void HoldLinears();
  Status FoldConstants();
  void FillReport();

  Backend& backend_;
  const std::unique_ptr<Family> family_;
  const std::shared_ptr<LoadedModel> model_;  // complete after Finish
  Plan folding_plan_;
  bool has_folded_ = false;  // another model's constants
  bool needs_weights_ = true;
  std::unique_ptr<ParameterWriter> writer_;
  std::unique_ptr<Checkpoint> checkpoint_;
};

}  // namespace peruse

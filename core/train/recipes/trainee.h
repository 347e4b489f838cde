// A model in training: the program of its family, its tensors, and steps over batches.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/families/family.h"
#include "core/heads/heads.h"
#include "core/train/memory/packed_copies.h"
#include "core/train/memory/weight_tensors.h"
#include "core/train/ops/step.h"
#include "core/train/recipes/sift.h"
#include "core/weights/checkpoint.h"

namespace peruse::train {

// How a sentence_transformers folder computes the vector of a text. Replaces the family's pooled head.
struct SentenceHead {
  PooledHead::Pick pick = PooledHead::Pick::kMean;
  bool normalized = false;
};

// A model's program in which ops::Input number 0 [tokens, width] is added to the word embeddings.
struct EmbeddingInputProgram {
  Program program;
  TableId table;  // the word embeddings
  int32_t width = 0;
};

class Trainee {
 public:
  // Parses config.json. `labels`, unless empty, replace those of config.json. If they only differ in their order, the rows of the
  // classifier are permuted; otherwise the classifier is initialised at random.
  static Result<std::unique_ptr<Trainee>> Create(std::string_view config_json, Head head,
                                                 const std::vector<std::string>& labels,
                                                 std::optional<SentenceHead> sentence = std::nullopt);

  const ModelConfig& config() const { return config_; }
  const std::optional<SentenceHead>& sentence() const { return sentence_; }
  const Family& family() const { return *family_; }
  WeightTensors& weight_tensors() { return *weight_tensors_; }
  // Creates the packed copies of a training run, after the tensors to train were chosen; those of an earlier run are freed. If `workers` is
  // null, one thread computes. Errors: kOutOfMemory.
  Status BeginTraining(std::shared_ptr<Workers> workers = nullptr);
  // Null before BeginTraining.
  PackedCopies* packed() const { return packed_.get(); }
  int64_t bytes() const { return weight_tensors_->bytes() + (packed_ ? packed_->bytes() : 0); }
  const Parameters& parameters() const { return parameters_; }

  // See Checkpoint::SetShardIndex. Must precede FinishWeights.
  Result<std::vector<std::string>> SetShardIndex(std::string_view index_json) {
    return checkpoint_->SetShardIndex(index_json);
  }
  Status EndShard() { return checkpoint_->EndShard(); }
  Status FeedWeights(std::span<const uint8_t> chunk) { return checkpoint_->Feed(chunk); }
  // Sets the file with the weights of a sentence head's classifier, which FinishWeights reads unless the labels are new.
  void SetClassifierFile(std::string file) { classifier_file_ = std::move(file); }
  Status FinishWeights();
  Status BeginFresh() { return weight_tensors_->BeginFresh(); }

  // Returns the number of the linear layer that computes the logits, or -1 if another operation computes them.
  int32_t ClassifierLinear() const;
  // Returns, for each of Parameters::tensors, whether the tensor belongs to a classifier that starts at random, because the examples have
  // other labels than the checkpoint.
  std::vector<bool> UsesOfClassifier() const;

  bool IsTrainable(const WeightTensor& weight_tensor) const {
    return !family_->PositionsAreFixed() || weight_tensor.name.find("position_embeddings") == std::string::npos;
  }

  // Returns the program for an output, without operations that it does not need.
  Result<Program> ProgramFor(OutputId output) const;
  // Like ProgramFor(output), but the output `below` (a row per token) is given as ops::Input number 0 instead of being computed.
  Result<Program> ProgramFrom(OutputId below, OutputId output) const;
  Result<PerturbedProgram> BuildPerturbed(OutputId output);
  Result<EmbeddingInputProgram> WithEmbeddingInput(OutputId output) const;

 private:
  Trainee() = default;
  Result<int32_t> OutputNumber(OutputId output) const;
  Status ReadClassifier();

  std::unique_ptr<Family> family_;
  ModelConfig config_;
  Parameters parameters_;
  Program program_;
  std::unique_ptr<WeightTensors> weight_tensors_;
  std::unique_ptr<PackedCopies> packed_;
  std::unique_ptr<Checkpoint> checkpoint_;  // null after FinishWeights
  std::optional<SentenceHead> sentence_;
  std::string classifier_file_;
  bool has_new_labels_ = false;
  // for each label, its row in the checkpoint's classifier; empty if the order is the same
  std::vector<int32_t> label_order_;
};

}  // namespace peruse::train

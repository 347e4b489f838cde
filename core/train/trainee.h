// A model that can learn: its program as the family writes it, its masters, and steps over batches.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/families/family.h"
#include "core/heads/heads.h"
#include "core/train/masters.h"
#include "core/train/sift.h"
#include "core/train/step.h"
#include "core/weights/checkpoint.h"

namespace peruse::train {

// What a folder of sentence_transformers says of one vector for a text, in place of the family's own head of texts.
struct SentenceHead {
  PooledHead::Pick pick = PooledHead::Pick::kMean;
  bool normalized = false;
};

class Trainee {
 public:
  // Reads config.json. `labels` replace those of config.json unless empty. If they are the same in another order, the classifier's rows
  // move with them; if they are others, the classifier starts at random.
  static Result<std::unique_ptr<Trainee>> Create(std::string_view config_json, Head head,
                                                 const std::vector<std::string>& labels,
                                                 std::optional<SentenceHead> sentence = std::nullopt);

  const ModelConfig& config() const { return config_; }
  const std::optional<SentenceHead>& sentence() const { return sentence_; }
  const Family& family() const { return *family_; }
  Masters& masters() { return *masters_; }
  const Parameters& parameters() const { return parameters_; }

  // As in Checkpoint. Precondition: before FinishWeights.
  Result<std::vector<std::string>> SetShardIndex(std::string_view index_json) {
    return checkpoint_->SetShardIndex(index_json);
  }
  Status EndShard() { return checkpoint_->EndShard(); }
  Status FeedWeights(std::span<const uint8_t> chunk) { return checkpoint_->Feed(chunk); }
  Status FinishWeights();
  // In place of a checkpoint: everything starts at random.
  Status BeginFresh() { return masters_->BeginFresh(); }

  // Number of the linear that computes the logits; -1 if another operation does.
  int32_t ClassifierLinear() const;
  // By number in Parameters::tensors: a classifier of other labels than the checkpoint's starts at random.
  std::vector<bool> UsesOfClassifier() const;

  // Whether transformers would train it.
  bool IsTrainable(const Master& master) const {
    return !family_->PositionsAreFixed() || master.name.find("position_embeddings") == std::string::npos;
  }

  // The program for an output, without what does not lead to it.
  Result<Program> ProgramFor(OutputId output) const;
  // The same with the output `below`, a row for each token, as ops::Input number 0 in place of all that makes it.
  Result<Program> ProgramFrom(OutputId below, OutputId output) const;
  // The program of scale-invariant fine-tuning.
  Result<PerturbedProgram> Perturbed(OutputId output);

 private:
  Trainee() = default;
  Result<int32_t> OutputNumber(OutputId output) const;

  std::unique_ptr<Family> family_;
  ModelConfig config_;
  Parameters parameters_;
  Program program_;
  std::unique_ptr<Masters> masters_;
  std::unique_ptr<Checkpoint> checkpoint_;  // until FinishWeights
  std::optional<SentenceHead> sentence_;
  std::vector<int32_t> label_order_;  // each label's row in the checkpoint; empty if they are in its order
};

}  // namespace peruse::train

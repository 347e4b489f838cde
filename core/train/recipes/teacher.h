// Trains a model on examples, step by step, so that a host can show progress and stop between steps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/train/recipes/adamw.h"
#include "core/train/recipes/contrast.h"
#include "core/train/recipes/feature_cache.h"
#include "core/train/recipes/methods.h"
#include "core/train/recipes/objective.h"
#include "core/train/recipes/pretraining.h"
#include "core/train/recipes/sift.h"
#include "core/train/recipes/teach_options.h"
#include "core/train/recipes/trainee.h"

namespace peruse::train {

class Teacher {
 public:
  enum Set { kTraining, kValidation };

  struct Plan {
    int64_t steps = 0;  // number of updates
    int64_t examples = 0, validation_examples = 0;
    int64_t trained = 0;  // number of trained parameters
    int64_t bytes = 0;    // memory of weights, gradients, moments and the largest batch
  };
  struct Progress {
    bool more = true;
    const char* phase = "training";  // "features", "training", "validation", "done"
    int64_t step = 0;                // number of updates so far
    int32_t epoch = 0;               // counted from 1
    double loss = 0;                 // loss of the last update
    double generator_loss = 0;       // kReplaced: the generator's share of the loss
    double learning_rate = 0;
    bool validated = false;  // whether `metrics` are from a validation in this step
  };
  struct Epoch {
    double loss = 0;  // mean loss over the updates of the epoch
    double generator_loss = 0;
    std::optional<Metrics> validation;
  };
  struct Report {
    std::vector<Epoch> epochs;
    int32_t best_epoch = 0;  // counted from 1; 0 if there was no validation: the result is then the last state
    int64_t steps = 0;
    int64_t tokens = 0;  // number of tokens that the model has processed in training
    double l2 =
        0;  // for a classifier that FitLogistic solves: strength of the regularisation, chosen by cross-validation
    double temperature = 1;  // for such a classifier: what the logits were divided by
    // For kHead with one label per text: predictions for all training examples, each by the fit without its fold.
    std::vector<Guess> guesses;
    std::vector<double> losses;  // loss of each update
  };

  // The trainee must have weights. It and the generator (for kReplaced) must outlive the teacher.
  Teacher(Trainee& trainee, Goal goal, TeachOptions options, Trainee* generator = nullptr);

  void Add(Set set, Example example) { sets_[set].push_back(std::move(example)); }

  // Errors: kInvalidArgument if there are no examples; kUnsupported if the method cannot train for the goal; kOutOfMemory.
  Result<Plan> Begin();
  // Errors: kUnsupported if the loss is NaN; kOutOfMemory.
  Result<Progress> Advance();
  const Report& report() const { return report_; }
  const TeachOptions& options() const { return options_; }

 private:
  enum class Phase : uint8_t { kFeatures, kFit, kContrast, kTraining, kValidation, kDone };
  struct Stage;
  static const Stage kStages[];
  struct Best {
    double loss = 0;             // loss of the best validation
    int32_t epochs_since = 0;    // validations since the best one
    std::vector<float> weights;  // values of the trained tensors
  };
  struct EpochSums {
    double loss = 0;
    double generator_loss = 0;
    int64_t updates = 0;
  };

  // Returns the number of updates, and sets that of the optimiser.
  int64_t PlanSteps();
  Status CheckMemory(Plan& plan);
  // Returns logits, or their gradients, with one row per text or token. Models that read labels may compute one row per label instead.
  Block ByText(const Block& block) const;
  int64_t Columns() const;
  bool reads_labels() const { return trainee_.config().reads_labels(); }
  StepOptions Options(bool training, uint32_t part = 0) const;
  std::vector<Part> PartsOf(std::span<const Example* const> examples) const;
  void Shuffle();

  Status ComputeFeatures();
  Status FitHead();
  // Prepares to fit the classifier to the vectors of the changed layers, which start from the features of the layers below.
  Status BeginHead();
  Status Contrast();
  Status Update();
  // Changes the weights by the gradients of an update, and reports its loss. Errors: kUnsupported if the loss is NaN.
  Status Apply(double loss);
  // Begins a step on a part, whose examples are then in batch_.
  Status BeginStep(const Part& part, const StepOptions& options);
  // Returns one part's share of the loss and adds its gradients. `rows` is the number of rows of logits of the whole update.
  Result<double> LearnPart(const Part& part, const StepOptions& options, double mass, int64_t rows);
  Status Validate();
  Status EndEpoch();
  Status NextEpoch();
  bool solves_head() const { return cut_.by_text() || contrast_; }
  bool IsLastEpoch() const { return solves_head() || progress_.epoch >= options_.epochs; }
  void KeepBest(double loss);
  void RestoreBest();

  Trainee& trainee_;
  TeachOptions options_;
  const std::unique_ptr<Objective> objective_;
  std::vector<Example> sets_[2];
  Report report_;
  Progress progress_;
  Phase phase_ = Phase::kTraining;

  CutProgram cut_;
  std::unique_ptr<Step> step_;  // over cut_.logits
  ExampleBatch batch_;
  std::unique_ptr<FeatureCache> features_;     // null if the method trains the whole model
  std::span<const float> matrix_;              // features of the tokens of step_'s batch
  std::unique_ptr<Pretraining> pretraining_;   // null unless tokens are masked
  std::unique_ptr<Sift> sift_;                 // null without scale-invariant fine-tuning
  std::unique_ptr<ContrastBatches> contrast_;  // null except for kContrast
  std::unique_ptr<AdamW> optimiser_;           // null if FitLogistic solves the classifier

  Part order_;       // training examples, shuffled
  size_t next_ = 0;  // index of the next example in order_, or in a validation
  int64_t updates_ = 0;
  EpochSums epoch_;
  Best best_;
};

}  // namespace peruse::train

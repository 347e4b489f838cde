// Trains a model on examples, step by step, so that a host can show progress and stop between steps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/train/adamw.h"
#include "core/train/generator.h"
#include "core/train/logistic.h"
#include "core/train/masking.h"
#include "core/train/objective.h"
#include "core/train/trainee.h"

namespace peruse::train {

enum class Method : uint8_t {
  kHead,    // only the head, on features that the encoder computes once
  kLayers,  // the head and the last layers, on outputs of the layer below, which are computed once
  kLora,    // low-rank updates of linear layers, and new tensors of the head
  kFull,    // all tensors
};

struct TeachOptions {
  Method method = Method::kFull;
  int32_t layers = 2;  // number of layers for kLayers
  int32_t lora_rank = 8;
  float lora_alpha = 16;
  std::vector<std::string> lora_targets = {"query", "value", "query_proj", "value_proj", "in_proj",
                                           "q_lin", "v_lin", "attn.q",     "attn.v",     "Wqkv"};
  bool freeze_words = false;
  int32_t epochs = 3;
  int32_t batch_size = 16;      // examples per update
  int32_t batch_tokens = 2048;  // maximum tokens in memory per step
  AdamWOptions adamw;           // Begin sets its number of steps
  float dropout = 0.1f;
  float attention_dropout = 0.1f;
  CrossEntropyOptions cross_entropy;
  MaskRecipe masking;           // for kMaskedWords and kReplaced; every update draws new masks
  float detection_weight = 50;  // kReplaced: weight of the discriminator's loss, relative to the generator's
  bool disentangled = false;    // kReplaced: how the models share token embeddings (generator.h)
  std::vector<float> class_weights;
  float sift = 0;              // weight of the divergence in scale-invariant fine-tuning; 0 disables it
  int32_t patience = 0;        // stops after this many validations without improvement; 0 disables stopping
  int32_t validate_every = 1;  // epochs between validations; the last epoch is always validated
  bool keep_best = true;       // whether to return the state of the best validation instead of the last state
  uint64_t seed = 42;
  int32_t threads = 1;
};

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
    double l2 = 0;       // for kHead: strength of the regularisation, chosen by cross-validation
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
  enum class Phase : uint8_t { kFeatures, kFit, kTraining, kValidation, kDone };

  void ChooseTrained();
  Status CheckReadsLabels() const;
  Status PrepareProgram();
  Status PrepareSift();
  Status CheckMemory(Plan& plan);
  void FillBatch(const Part& part);
  BatchInputs Inputs() const;
  // Returns logits, or their gradients, with one row per text or token. Models that read labels may compute one row per label instead.
  Block ByText(const Block& block) const;
  int64_t Columns() const;
  bool reads_labels() const { return trainee_.config().reads_labels(); }
  void BringFeatures(const Part& part);
  StepOptions Options(bool training, uint32_t part = 0) const;
  std::vector<Part> PartsOf(std::span<const Example* const> examples) const;
  void Shuffle();
  // Returns these texts with masked tokens, valid until the next call. `draw` identifies the masks.
  Part MaskedTexts(std::span<const Example* const> texts, uint32_t draw);
  bool masks() const { return objective_->traits().masks; }
  Status PreparePretraining();
  // Replaces masked tokens by the generator's predictions, valid until the next call. If `learns`, it also trains the generator on tokens
  // of total weight `mass`.
  Result<Part> Replaced(const Part& masked, bool learns, double mass, uint32_t first);

  Status ComputeFeatures();
  Status FitHead();
  Status Update();
  // Returns one part's share of the loss and adds its gradients.
  Result<double> LearnPart(const Part& part, uint32_t number, double mass);
  Result<double> LearnPerturbed(const Part& part, uint32_t number, double mass, int64_t rows);
  Status Validate();
  Status EndEpoch();
  Status NextEpoch();
  void KeepState();
  void RestoreState();

  Trainee& trainee_;
  TeachOptions options_;
  const std::unique_ptr<Objective> objective_;
  std::vector<Example> sets_[2];
  Report report_;
  Progress progress_;
  Phase phase_ = Phase::kTraining;

  Program program_;           // computes the logits; if features are computed once, only the operations from `cut` on
  Program features_program_;  // computes the features: the operations before `cut`
  std::unique_ptr<Step> step_, features_step_;
  PerturbedProgram perturbed_;
  std::unique_ptr<Sift> sift_;
  std::vector<float> perturbation_;
  uint32_t drawn_ = 0;  // number of perturbations drawn
  std::unique_ptr<AdamW> optimiser_;
  std::vector<std::vector<float>> features_;  // one vector per example, training examples before validation examples
  int32_t features_width_ = 0;
  bool by_text_ = false;  // whether features have a row per text instead of a row per token
  std::string classifier_;

  std::vector<const Example*> order_;
  size_t next_ = 0;  // index in order_; while features are computed or validated, that of the next example
  int64_t updates_ = 0;
  double epoch_loss_ = 0;
  int64_t epoch_updates_ = 0;
  double best_ = 0;
  int32_t since_best_ = 0;
  std::vector<float> kept_;  // the best state of the trained masters

  std::unique_ptr<Generator> generator_;
  // masked texts of the current update, and texts with replaced tokens of the current part
  std::vector<Example> masked_, replaced_;
  double epoch_generator_loss_ = 0;

  RaggedBatch batch_;
  std::vector<ModelInput> inputs_;
  std::vector<int32_t> chosen_;
  const HeadLists* read_labels_ = nullptr;
  std::vector<float> matrix_;
  std::vector<std::span<const float>> matrices_;
};

}  // namespace peruse::train

#include "core/train/recipes/teacher.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/train/memory/random_stream.h"

namespace peruse::train {
namespace {

CrossEntropyOptions CrossEntropyOf(const TeachOptions& options) {
  CrossEntropyOptions cross_entropy = options.cross_entropy;
  cross_entropy.class_weights = options.class_weights;
  return cross_entropy;
}

}  // namespace

Teacher::Teacher(Trainee& trainee, Goal goal, TeachOptions options, Trainee* generator)
    : trainee_(trainee), options_(std::move(options)), objective_(Objective::Create(goal, CrossEntropyOf(options_))) {
  if (objective_->traits().masks) pretraining_ = std::make_unique<Pretraining>(options_, trainee, generator);
}

Result<Teacher::Plan> Teacher::Begin() {
  const std::vector<Example>& examples = sets_[kTraining];
  if (examples.empty()) return InvalidArgument("there are no examples to learn from");
  PERUSE_RETURN_IF_ERROR(CheckMethod(options_, trainee_, *objective_));
  PerturbedProgram perturbed;
  if (options_.sift > 0) {
    PERUSE_ASSIGN_OR_RETURN(perturbed, trainee_.BuildPerturbed(kLogits));
  }
  PERUSE_RETURN_IF_ERROR(ChooseTrained(options_, trainee_));
  WeightTensors& weight_tensors = trainee_.weight_tensors();
  std::shared_ptr<Workers> workers;
  if (trainee_.packed() != nullptr) {
    workers = trainee_.packed()->shared_workers();  // of an earlier training run
  } else {
    PERUSE_ASSIGN_OR_RETURN(workers, Workers::Create(options_.threads));
  }
  objective_->SetWorkers(*workers);
  PERUSE_RETURN_IF_ERROR(trainee_.BeginTraining(std::move(workers)));
  PackedCopies& packed = *trainee_.packed();
  weight_tensors.Initialise(options_.seed, /*deviation=*/0.02f);
  if (options_.method == Method::kHead) weight_tensors.PassThrough();
  packed.Pack();
  PERUSE_ASSIGN_OR_RETURN(cut_, CutFor(options_, trainee_, *objective_));
  step_ = std::make_unique<Step>(cut_.logits, packed.parameters());
  if (options_.sift > 0) sift_ = std::make_unique<Sift>(std::move(perturbed), packed.parameters(), options_.sift);
  if (options_.method == Method::kContrast)
    contrast_ = std::make_unique<ContrastBatches>(examples, options_.batch_size, options_.batch_tokens, options_.seed);
  if (cut_.has_features()) {
    // A validation after FitHead runs the whole model.
    const std::span<const Example> validated = solves_head() ? std::span<const Example>() : sets_[kValidation];
    features_ = std::make_unique<FeatureCache>(cut_, packed.parameters(), examples, validated);
    phase_ = Phase::kFeatures;
  }
  Plan plan;
  plan.steps = PlanSteps();
  plan.examples = static_cast<int64_t>(examples.size());
  plan.validation_examples = static_cast<int64_t>(sets_[kValidation].size());
  for (const WeightTensor& weight_tensor : weight_tensors.tensors())
    plan.trained += weight_tensor.trained ? weight_tensor.size : 0;
  if (!cut_.by_text()) {
    optimiser_ = std::make_unique<AdamW>(weight_tensors, packed.workers(), options_.adamw);
    PERUSE_RETURN_IF_ERROR(optimiser_->Allocate());
  }
  for (const Example& example : examples) order_.push_back(&example);
  if (pretraining_) {
    PERUSE_RETURN_IF_ERROR(pretraining_->Prepare());
    pretraining_->MaskAll(&sets_[kValidation], /*draw=*/0);  // the same masks in every epoch
    plan.trained += pretraining_->trained();
  }
  PERUSE_RETURN_IF_ERROR(CheckMemory(plan));
  Shuffle();
  return plan;
}

int64_t Teacher::PlanSteps() {
  if (options_.method == Method::kContrast) {
    options_.adamw.steps = options_.contrast.updates;
    return options_.contrast.updates + 1;  // the last step solves the classifier
  }
  const auto batch = static_cast<size_t>(options_.batch_size);
  const auto updates = static_cast<int64_t>((sets_[kTraining].size() + batch - 1) / batch);
  options_.adamw.steps = cut_.by_text() ? 1 : updates * options_.epochs;
  return options_.adamw.steps;
}

// Begins a training step with the largest possible part, so that later steps do not allocate memory.
Status Teacher::CheckMemory(Plan& plan) {
  Part all;
  for (const auto& set : sets_) {
    for (const Example& example : set) all.push_back(&example);
  }
  std::sort(all.begin(), all.end(), [](const Example* a, const Example* b) { return a->ids.size() > b->ids.size(); });
  all.resize(std::min(all.size(), static_cast<size_t>(options_.batch_size)));
  Part part = PartsOf(all).front();
  if (pretraining_) part = pretraining_->Mask(part, /*draw=*/0);
  plan.bytes = trainee_.bytes() + (optimiser_ ? optimiser_->bytes() : 0);
  batch_.Fill(part);
  const StepOptions training = Options(/*training=*/true);
  if (!cut_.by_text()) {
    const std::vector<float> matrix(static_cast<size_t>(batch_.rows().rows()) * static_cast<size_t>(cut_.width));
    const std::span<const float> features = matrix;
    PERUSE_RETURN_IF_ERROR(step_->Begin(batch_.inputs(), training, std::span(&features, features_ ? 1 : 0)));
    plan.bytes += step_->bytes();
  }
  if (pretraining_) {
    PERUSE_ASSIGN_OR_RETURN(const int64_t bytes, pretraining_->Rehearse(part, training));
    plan.bytes += bytes;
  }
  if (sift_) {
    PERUSE_ASSIGN_OR_RETURN(const int64_t bytes, sift_->Rehearse(batch_.inputs(), training));
    plan.bytes += bytes;
  }
  if (features_) {
    PERUSE_ASSIGN_OR_RETURN(const int64_t bytes, features_->Rehearse(batch_, Options(/*training=*/false)));
    plan.bytes += bytes;
  }
  return OkStatus();
}

StepOptions Teacher::Options(bool training, uint32_t part) const {
  StepOptions options;
  options.backward = training;
  options.seed = options_.seed;
  if (!training) return options;
  options.dropout = options_.dropout;
  options.attention_dropout = options_.attention_dropout;
  options.number = static_cast<uint32_t>(updates_);
  options.part = part;
  return options;
}

std::vector<Part> Teacher::PartsOf(std::span<const Example* const> examples) const {
  std::vector<Part> parts;
  size_t tokens = 0;
  for (const Example* example : examples) {
    tokens += example->ids.size();
    if (parts.empty() || reads_labels() || tokens > static_cast<size_t>(options_.batch_tokens)) {
      parts.emplace_back();
      tokens = example->ids.size();
    }
    parts.back().push_back(example);
  }
  return parts;
}

Block Teacher::ByText(const Block& block) const {
  const int64_t count = block.rows * block.cols;
  return reads_labels() ? Block{block.data, 1, count, count} : block;
}

int64_t Teacher::Columns() const {
  return reads_labels() ? trainee_.config().num_labels() : cut_.logits.info(cut_.logits.outputs[0].value).cols.factor;
}

void Teacher::Shuffle() {
  const auto epoch = static_cast<size_t>(progress_.epoch);
  RandomStream(options_.seed, Purpose::kOrder).Shuffle(std::span(order_), epoch);
}

// What a step does in each phase, and the phase's name for hosts, in the order of the enum.
struct Teacher::Stage {
  const char* name;
  Status (Teacher::*run)();
};
constexpr Teacher::Stage Teacher::kStages[] = {
    {"features", &Teacher::ComputeFeatures}, {"training", &Teacher::FitHead},    {"training", &Teacher::Contrast},
    {"training", &Teacher::Update},          {"validation", &Teacher::Validate},
};

Result<Teacher::Progress> Teacher::Advance() {
  static_assert(std::size(kStages) == static_cast<size_t>(Phase::kDone));
  progress_.validated = false;
  if (phase_ != Phase::kDone) {
    const Stage& stage = kStages[static_cast<size_t>(phase_)];
    progress_.phase = stage.name;
    PERUSE_RETURN_IF_ERROR((this->*stage.run)());
  }
  progress_.more = phase_ != Phase::kDone;
  return progress_;
}

Status Teacher::ComputeFeatures() {
  const auto count = static_cast<size_t>(options_.batch_size);
  const Part part = PartsOf(features_->Next(count)).front();
  batch_.Fill(part);
  PERUSE_RETURN_IF_ERROR(features_->Compute(part, batch_, Options(/*training=*/false)));
  if (features_->Next(1).empty())
    phase_ = cut_.by_text() ? Phase::kFit : contrast_ ? Phase::kContrast : Phase::kTraining;
  return OkStatus();
}

Status Teacher::BeginHead() {
  TeachOptions options = options_;
  options.method = Method::kHead;
  PERUSE_ASSIGN_OR_RETURN(CutProgram head, CutFor(options, trainee_, *objective_));
  head.features = std::move(cut_.logits);
  FeatureCache::Features below = features_->Take();
  features_.reset();
  step_.reset();
  cut_ = std::move(head);
  const PackedParameters& packed = trainee_.packed()->parameters();
  step_ = std::make_unique<Step>(cut_.logits, packed);
  features_ =
      std::make_unique<FeatureCache>(cut_, packed, sets_[kTraining], std::span<const Example>(), std::move(below));
  phase_ = Phase::kFeatures;
  return OkStatus();
}

Status Teacher::FitHead() {
  // Vectors that were trained with these labels would make a cross-validation too optimistic, so kContrast has a fixed factor.
  const std::optional<double> factor = contrast_ ? std::optional(options_.contrast.logit_factor) : std::nullopt;
  const LogisticFit fit = features_->FitClassifier(*objective_, options_.seed, factor, trainee_);
  const auto labels = static_cast<size_t>(trainee_.config().num_labels());
  const bool guesses = !factor && objective_->traits().link == Objective::Link::kSoftmax;
  for (size_t i = 0; guesses && i < sets_[kTraining].size(); ++i) {
    report_.guesses.push_back(GuessOf(std::span(fit.held_out).subspan(i * labels, labels)));
  }
  report_.l2 = fit.l2;
  report_.temperature = 1 / fit.factor;
  progress_.loss = fit.loss;
  report_.losses.push_back(fit.loss);
  epoch_ = {.loss = fit.loss, .updates = 1};
  report_.steps = progress_.step = ++updates_;
  return EndEpoch();
}

Status Teacher::Contrast() {
  trainee_.packed()->ZeroGradients();
  const Part part = contrast_->Draw(static_cast<size_t>(updates_));
  PERUSE_RETURN_IF_ERROR(BeginStep(part, Options(/*training=*/true)));
  report_.tokens += batch_.rows().rows();
  step_->Forward();
  const double loss = ContrastLoss(part, step_->output(), step_->output_gradient());
  step_->Backward();
  trainee_.packed()->Gather();
  PERUSE_RETURN_IF_ERROR(Apply(loss));
  return updates_ < options_.contrast.updates ? OkStatus() : BeginHead();
}

Status Teacher::Update() {
  if (next_ == 0) progress_.epoch = static_cast<int32_t>(report_.epochs.size()) + 1;
  const size_t count = std::min(order_.size() - next_, static_cast<size_t>(options_.batch_size));
  const auto texts = std::span<const Example* const>(order_).subspan(next_, count);
  Part examples(texts.begin(), texts.end());
  if (pretraining_) examples = pretraining_->Mask(texts, static_cast<uint32_t>(updates_) + 1);
  double mass = objective_->Mass(examples, Columns());
  if (pretraining_) {
    mass /= pretraining_->weight();
    pretraining_->BeginUpdate(examples);
  }
  PackedCopies& packed = *trainee_.packed();
  packed.ZeroGradients();
  double loss = 0;
  int64_t rows = 0;
  for (const Example* example : examples) rows += objective_->RowsOf(*example);
  uint32_t number = 0;
  for (Part part : PartsOf(examples)) {
    if (pretraining_) {
      PERUSE_ASSIGN_OR_RETURN(part, pretraining_->Learn(part, Options(/*training=*/true)));
    }
    PERUSE_ASSIGN_OR_RETURN(const double share, LearnPart(part, Options(/*training=*/true, number++), mass, rows));
    loss += share;
    report_.tokens += batch_.rows().rows();
  }
  progress_.generator_loss = pretraining_ ? pretraining_->loss() : 0;
  loss += progress_.generator_loss;
  packed.Gather();
  PERUSE_RETURN_IF_ERROR(Apply(loss));
  next_ += count;
  epoch_.loss += loss;
  epoch_.generator_loss += progress_.generator_loss;
  ++epoch_.updates;
  return next_ < order_.size() ? OkStatus() : EndEpoch();
}

Status Teacher::Apply(double loss) {
  const double norm = pretraining_ ? pretraining_->Update(*optimiser_) : optimiser_->Update();
  if (!std::isfinite(norm) || !std::isfinite(loss)) {
    return Unsupported("training diverged at step " + std::to_string(updates_ + 1) +
                       "; its loss is not a number: a smaller learning_rate may help");
  }
  trainee_.packed()->Pack();
  report_.steps = progress_.step = ++updates_;
  report_.losses.push_back(loss);
  progress_.loss = loss;
  progress_.learning_rate = optimiser_->last_rate();
  return OkStatus();
}

Status Teacher::BeginStep(const Part& part, const StepOptions& options) {
  batch_.Fill(part);
  const bool by_token = features_ && !cut_.by_text();
  if (by_token) matrix_ = features_->Rows(part);
  return step_->Begin(batch_.inputs(), options, std::span(&matrix_, by_token ? 1 : 0));
}

Result<double> Teacher::LearnPart(const Part& part, const StepOptions& options, double mass, int64_t rows) {
  if (sift_) {
    batch_.Fill(part);
    const auto loss = [&](const Block& logits, const Block& gradient) {
      return objective_->Loss(part, batch_.rows(), logits, mass, gradient);
    };
    return sift_->Learn(batch_.inputs(), options, loss, rows);
  }
  PERUSE_RETURN_IF_ERROR(BeginStep(part, options));
  step_->Forward();
  const double loss =
      objective_->Loss(part, batch_.rows(), ByText(step_->output()), mass, ByText(step_->output_gradient()));
  step_->Backward();
  return loss;
}

Status Teacher::EndEpoch() {
  next_ = 0;
  const EpochSums sums = std::exchange(epoch_, {});
  const auto updates = static_cast<double>(sums.updates);
  report_.epochs.push_back({sums.loss / updates, sums.generator_loss / updates, std::nullopt});
  progress_.epoch = static_cast<int32_t>(report_.epochs.size());
  const bool validates = IsLastEpoch() || progress_.epoch % options_.validate_every == 0;
  if (sets_[kValidation].empty() || !validates) return NextEpoch();
  objective_->Reset(Columns());
  phase_ = Phase::kValidation;
  return OkStatus();
}

Status Teacher::NextEpoch() {
  const bool tired = options_.patience > 0 && best_.epochs_since >= options_.patience;
  phase_ = IsLastEpoch() || tired ? Phase::kDone : Phase::kTraining;
  if (phase_ == Phase::kTraining) Shuffle();
  if (phase_ == Phase::kDone && report_.best_epoch > 0 && report_.best_epoch != progress_.epoch) RestoreBest();
  return OkStatus();
}

// Scores the next part of the examples. After the last part, stores the metrics of the epoch.
Status Teacher::Validate() {
  const std::vector<Example>& examples = sets_[kValidation];
  Part rest;
  for (size_t i = next_; i < examples.size() && rest.size() < static_cast<size_t>(options_.batch_size); ++i) {
    rest.push_back(&examples[i]);
  }
  Part part = PartsOf(rest).front();
  const size_t count = part.size();
  const StepOptions options = Options(/*training=*/false);
  if (pretraining_) {
    PERUSE_ASSIGN_OR_RETURN(part, pretraining_->Replace(part, options, static_cast<uint32_t>(next_)));
  }
  PERUSE_RETURN_IF_ERROR(BeginStep(part, options));
  step_->Forward();
  objective_->Observe(part, batch_.rows(), ByText(step_->output()));
  next_ += count;
  if (next_ < examples.size()) return OkStatus();
  next_ = 0;
  Part all;
  for (const Example& example : examples) all.push_back(&example);
  const Metrics metrics = objective_->Finish(objective_->Mass(all, Columns()));
  report_.epochs.back().validation = metrics;
  progress_.validated = true;
  if (report_.best_epoch == 0 || metrics.loss < best_.loss || !options_.keep_best) {
    KeepBest(metrics.loss);
  } else {
    ++best_.epochs_since;
  }
  return NextEpoch();
}

void Teacher::KeepBest(double loss) {
  report_.best_epoch = progress_.epoch;
  best_.loss = loss;
  best_.epochs_since = 0;
  if (!options_.keep_best) return;
  best_.weights.clear();
  for (const WeightTensor& weight_tensor : trainee_.weight_tensors().tensors()) {
    if (weight_tensor.trained)
      best_.weights.insert(best_.weights.end(), weight_tensor.values, weight_tensor.values + weight_tensor.size);
  }
  if (pretraining_) pretraining_->Keep(&best_.weights);
}

void Teacher::RestoreBest() {
  const float* from = best_.weights.data();
  for (const WeightTensor& weight_tensor : trainee_.weight_tensors().tensors()) {
    if (!weight_tensor.trained) continue;
    std::copy_n(from, weight_tensor.size, weight_tensor.values);
    from += weight_tensor.size;
  }
  if (pretraining_) pretraining_->Restore(from);
  trainee_.packed()->Pack();
}

}  // namespace peruse::train

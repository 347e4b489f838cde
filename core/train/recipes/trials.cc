#include "core/train/recipes/trials.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/train/recipes/folds.h"

namespace peruse::train {
namespace {

// Number of folds for methods that train in steps. Each fold is a separate training run.
constexpr int32_t kTrainedFolds = 3;
// Minimum number of examples for comparing methods: with fewer, folds are too small for a comparison.
constexpr size_t kEnoughToCompare = 48;
// A comparison takes about ten seconds in WebAssembly. The limit of kContrast is lower, because its final run alone may take ten seconds. On
// development sets (docs/internals/training.md) kContrast is better than the head by several points on average, so a worse score that may be chance
// does not count, but gains nothing where the head is right for 95 % of the examples.
constexpr Trials::Rival kFullRival = {.method = Method::kFull, .comparable = 1e12};
constexpr Trials::Rival kContrastRival = {
    .method = Method::kContrast, .comparable = 2.5e11, .standard_errors = 1, .good_enough = 0.95};
// kBriefContrast is used if the head is right for this share of the texts that guessing gets wrong, and there are at least kManyLabels labels. With
// two labels it is worse on the development sets.
constexpr double kBriefSuffices = 0.75;
constexpr int64_t kManyLabels = 3;
// Limits the floating-point operations of a training run, if the caller does not choose the method: about a minute.
constexpr double kTrainable = 2e12;

int32_t TrueLabelOf(const Example& example) {
  if (!example.labels.empty()) return example.labels[0];
  return static_cast<int32_t>(std::max_element(example.targets.begin(), example.targets.end()) -
                              example.targets.begin());
}

double AccuracyOf(const std::vector<Guess>& guesses, const std::vector<Example>& examples) {
  int64_t right = 0;
  for (size_t i = 0; i < guesses.size(); ++i) right += guesses[i].label == TrueLabelOf(examples[i]) ? 1 : 0;
  return static_cast<double>(right) / static_cast<double>(guesses.size());
}

const Trials::Rival& RivalOf(Trainee& trainee, Goal goal) {
  const bool contrasts = trainee.sentence() && Objective::Create(goal, {})->traits().contrasts;
  return contrasts && ContrastLayers(trainee) > 0 ? kContrastRival : kFullRival;
}

}  // namespace

Trials::Trials(Trainee& trainee, Goal goal, std::function<TeachOptions(Method)> options, std::optional<Method> method,
               bool cross_validate, std::vector<Example> training, std::vector<Example> validation, Trainee* generator)
    : trainee_(trainee),
      goal_(goal),
      link_(Objective::Create(goal, {})->traits().link),
      rival_(RivalOf(trainee, goal)),
      options_(std::move(options)),
      asked_(method),
      cross_validate_(cross_validate),
      training_(std::move(training)),
      validation_(std::move(validation)),
      generator_(generator) {}

int32_t Trials::LabelOf(size_t example) const { return TrueLabelOf(training_[example]); }

double Trials::CostOfRival() const {
  const TeachOptions options = options_(rival_.method);
  const bool contrasts = rival_.method == Method::kContrast;
  const int32_t first_layer = contrasts ? trainee_.config().num_hidden_layers - ContrastLayers(trainee_) : 0;
  double weights = 0, tokens = 0;
  for (const WeightTensor& weight_tensor : trainee_.weight_tensors().tensors())
    if (LayerNumber(weight_tensor.name).value_or(-1) >= first_layer) weights += static_cast<double>(weight_tensor.size);
  for (const Example& example : training_) tokens += static_cast<double>(example.ids.size());
  if (!contrasts) return 6 * weights * tokens * options.epochs;
  const double batches = static_cast<double>(training_.size()) / options.batch_size;
  const double of_batch = std::min(tokens / std::max(batches, 1.0), static_cast<double>(options.batch_tokens));
  return 6 * weights * of_batch * Contrast().updates;
}

int64_t Trials::StepsOf(const Training& training) const {
  const bool solved = link_ != Objective::Link::kNone && !trainee_.config().reads_labels();
  if (training.method == Method::kHead && solved) return 1;
  if (training.method == Method::kContrast) return Contrast().updates + 1;
  const TeachOptions options = options_(training.method);
  int64_t examples = static_cast<int64_t>(training_.size());
  if (training.fold >= 0) examples -= std::count(folds_.begin(), folds_.end(), training.fold);
  return (examples + options.batch_size - 1) / options.batch_size * options.epochs;
}

int64_t Trials::total_steps() const {
  int64_t steps = chosen_ ? 0 : StepsOf({rival_.method});
  for (const Training& training : planned_) steps += StepsOf(training);
  return steps;
}

// The vectors of an embedder suffice for the head, so embedders are not trained fully.
bool Trials::RivalByRule() const {
  return (rival_.method == Method::kContrast || !trainee_.sentence()) && CostOfRival() <= kTrainable;
}

void Trials::ScoreByFolds(Method method) {
  const int32_t count = std::min(kTrainedFolds, static_cast<int32_t>(training_.size()));
  folds_ = FoldsOf(training_, count, options_(method).seed);
  scores_.push_back({.method = method, .folds = count, .guesses = std::vector<Guess>(training_.size())});
  for (int32_t fold = 0; fold < count; ++fold) planned_.push_back({method, fold});
}

Result<Teacher::Plan> Trials::Begin() {
  const bool one_label = link_ == Objective::Link::kSoftmax && !trainee_.config().reads_labels();
  if (asked_) {
    if (cross_validate_ && one_label && *asked_ != Method::kHead) ScoreByFolds(*asked_);
    planned_.push_back({*asked_});
    chosen_ = true;
  } else if (!one_label) {
    const bool head = link_ != Objective::Link::kNone && !RivalByRule();
    planned_.push_back({head ? Method::kHead : Method::kFull});
    chosen_ = true;
  } else {
    planned_.push_back({Method::kHead});  // the fit of kHead computes its own cross-validation score
    const bool quick = CostOfRival() * kTrainedFolds <= rival_.comparable;
    if (quick && training_.size() >= kEnoughToCompare) ScoreByFolds(rival_.method);
  }
  if (planned_.size() > 1 || !chosen_) PERUSE_RETURN_IF_ERROR(trainee_.weight_tensors().KeepStart());
  PERUSE_RETURN_IF_ERROR(Start(planned_[0]));
  return plan_;
}

Status Trials::Start(const Training& training) {
  if (teacher_) {
    teacher_.reset();
    trainee_.weight_tensors().RestoreStart();
  }
  TeachOptions options = options_(training.method);
  if (training.method == Method::kContrast) {
    options.contrast = Contrast();
    options.adamw.learning_rate *= options.contrast.rate_factor;
  }
  if (training.fold >= 0) {
    options.keep_best = false;
    options.patience = 0;
    options.validate_every = options.epochs;
  }
  teacher_ = std::make_unique<Teacher>(trainee_, goal_, options, generator_);
  for (size_t i = 0; i < training_.size(); ++i) {
    const bool held_out = training.fold >= 0 && folds_[i] == training.fold;
    teacher_->Add(held_out ? Teacher::kValidation : Teacher::kTraining, training_[i]);
  }
  if (training.fold < 0) {
    for (const Example& example : validation_) teacher_->Add(Teacher::kValidation, example);
  }
  const int64_t bytes_before = plan_.bytes;
  PERUSE_ASSIGN_OR_RETURN(plan_, teacher_->Begin());
  plan_.bytes = std::max(plan_.bytes, bytes_before);
  plan_.examples = static_cast<int64_t>(training_.size());
  plan_.validation_examples = static_cast<int64_t>(validation_.size());
  return OkStatus();
}

void Trials::Finish() {
  const Training& training = planned_[current_];
  const Teacher::Report& report = teacher_->report();
  if (training.fold < 0) {
    if (report.guesses.empty() || ScoreOf(Method::kHead) != nullptr) return;
    scores_.push_back({.method = Method::kHead, .folds = FoldCount(training_.size()), .guesses = report.guesses});
    scores_.back().accuracy = AccuracyOf(report.guesses, training_);
    return;
  }
  Score& score = scores_.front();  // ScoreByFolds added it before any other
  const std::vector<Guess>& guesses = report.epochs.back().validation->guesses;
  for (size_t i = 0, next = 0; i < training_.size(); ++i) {
    if (folds_[i] == training.fold) score.guesses[i] = guesses[next++];
  }
  score.accuracy = AccuracyOf(score.guesses, training_);
}

const Trials::Score* Trials::ScoreOf(Method method) const {
  const auto found =
      std::find_if(scores_.begin(), scores_.end(), [method](const Score& score) { return score.method == method; });
  return found == scores_.end() ? nullptr : &*found;
}

bool Trials::HeadIsGoodEnough() const {
  const Score* const head = ScoreOf(Method::kHead);
  return !chosen_ && current_ == 0 && head != nullptr && training_.size() >= kEnoughToCompare &&
         head->accuracy >= rival_.good_enough;
}

const ContrastRecipe& Trials::Contrast() const {
  const Score* const head = ScoreOf(Method::kHead);
  const int64_t labels = trainee_.config().num_labels();
  const double guessed = 1 / static_cast<double>(labels);
  const bool clear = head != nullptr && head->accuracy >= guessed + kBriefSuffices * (1 - guessed);
  return clear && labels >= kManyLabels ? kBriefContrast : kUsualContrast;
}

double Trials::Margin(double accuracy) const {
  return rival_.standard_errors * std::sqrt(accuracy * (1 - accuracy) / static_cast<double>(training_.size()));
}

// Plans the final training run, once all scores are known.
void Trials::Choose() {
  chosen_ = true;
  const Score *const head = ScoreOf(Method::kHead), *const rival = ScoreOf(rival_.method);
  const bool compared = head != nullptr && rival != nullptr;
  const bool better = compared ? rival->accuracy >= head->accuracy - Margin(head->accuracy) : RivalByRule();
  if (better) {
    planned_.push_back({rival_.method});
  } else if (planned_.size() > 1) {
    planned_.push_back({Method::kHead});
  }
}

Result<Teacher::Progress> Trials::Advance() {
  PERUSE_ASSIGN_OR_RETURN(Teacher::Progress progress, teacher_->Advance());
  progress.step += steps_before_;
  if (planned_[current_].fold >= 0) progress.validated = false;  // metrics of a fold do not describe the final model
  if (progress.more) return progress;
  Finish();
  if (HeadIsGoodEnough()) {
    planned_.resize(1);
    std::erase_if(scores_, [](const Score& score) { return score.method != Method::kHead; });
    chosen_ = true;
  }
  if (current_ + 1 == planned_.size() && !chosen_) Choose();
  if (current_ + 1 == planned_.size()) return progress;
  steps_before_ = progress.step;
  ++current_;
  PERUSE_RETURN_IF_ERROR(Start(planned_[current_]));
  progress.more = true;
  return progress;
}

}  // namespace peruse::train

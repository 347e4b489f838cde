// Scale-invariant fine-tuning (SiFT): virtual adversarial training on normalised embeddings (He et al., 2020, section 4; the loop
// follows the authors' DeBERTa code, adv_loss.py).
#include <algorithm>
#include <cmath>

#include "core/train/teacher.h"

namespace peruse::train {
namespace {

constexpr float kDeviation = 1e-2f;  // of the first perturbation
constexpr float kPace = 1e-4f;       // of the step that makes it worse

// Passes of one part, whose dropout differs. The clean one runs twice, the same.
enum Pass : uint32_t { kClean, kAscent, kDisturbed, kPasses };

void CopyRows(const Block& from, std::vector<float>* to) {
  to->clear();
  for (int64_t r = 0; r < from.rows; ++r) to->insert(to->end(), from.row(r), from.row(r) + from.cols);
}

}  // namespace

Status Teacher::PrepareSift() {
  if (options_.sift == 0) return OkStatus();
  const Goal goal = objective_.goal();
  if (goal != Goal::kSingleLabel && goal != Goal::kSoftLabels && goal != Goal::kTokens) {
    return Unsupported("option sift is for tasks with one label of several; this one has none such");
  }
  if (options_.method != Method::kFull && options_.method != Method::kLora) {
    return InvalidArgument("option sift disturbs embeddings: it goes with the methods \"full\" and \"lora\"");
  }
  PERUSE_ASSIGN_OR_RETURN(perturbed_, trainee_.PerturbedProgram("logits"));
  return OkStatus();
}

// Normal, cut off at twice the deviation.
void Teacher::DrawPerturbation() {
  ++drawn_;
  const std::array<uint32_t, 2> key = {static_cast<uint32_t>(options_.seed),
                                       static_cast<uint32_t>(options_.seed >> 32)};
  for (size_t i = 0; i < perturbation_.size(); ++i) {
    const auto words = Philox({static_cast<uint32_t>(i), drawn_, 0xFFFFFFFDu, 0}, key);
    const double one = (words[0] + 0.5) / 4294967296.0, two = (words[1] + 0.5) / 4294967296.0;
    const auto normal = static_cast<float>(std::sqrt(-2 * std::log(one)) * std::cos(2 * M_PI * two));
    perturbation_[i] = kDeviation * std::clamp(normal, -2.0f, 2.0f);
  }
}

// A perturbation of the batch that changes what the model says, by one step of gradient ascent. Where clean_ is empty (a rehearsal
// for memory) only the pass begins.
Status Teacher::Ascend(const BatchInputs& inputs) {
  perturbation_.resize(static_cast<size_t>(batch_.rows()) * static_cast<size_t>(perturbed_.width));
  DrawPerturbation();
  matrices_ = {perturbation_};
  StepOptions options = Options(/*training=*/true);
  options.number = options.number * kPasses + kAscent;
  options.parameters = false;
  options.inputs = true;
  PERUSE_RETURN_IF_ERROR(perturbed_step_->Begin(inputs, options, matrices_));
  if (clean_.empty()) {
    options.parameters = true;  // the largest pass there is
    return perturbed_step_->Begin(inputs, options, matrices_);
  }
  perturbed_step_->Forward();
  const Block logits = perturbed_step_->output(), gradient = perturbed_step_->output_gradient();
  Fill(gradient, 0);
  SymmetricDivergence(logits, {clean_.data(), logits.rows, logits.cols, logits.cols}, 1, gradient, {});
  perturbed_step_->Backward();
  const Block ascent = perturbed_step_->input_gradient(0);
  double squares = 0;
  for (int64_t r = 0; r < ascent.rows; ++r) {
    for (int64_t c = 0; c < ascent.cols; ++c) squares += double{ascent.row(r)[c]} * double{ascent.row(r)[c]};
  }
  if (!std::isfinite(squares)) return OkStatus();
  for (int64_t r = 0; r < ascent.rows; ++r) {
    float largest = 0;
    for (int64_t c = 0; c < ascent.cols; ++c) largest = std::max(largest, std::fabs(ascent.row(r)[c]));
    float* own = perturbation_.data() + r * ascent.cols;
    for (int64_t c = 0; c < ascent.cols; ++c) own[c] += kPace * ascent.row(r)[c] / (1e-6f + largest);
  }
  return OkStatus();
}

// loss + weight * mean over rows of the symmetric divergence between clean and disturbed logits.
Result<double> Teacher::LearnPerturbed(const Part& part, double mass, int64_t rows) {
  const BatchInputs inputs = {inputs_, batch_, chosen_};
  const double scale = double{options_.sift} / static_cast<double>(rows);
  const auto begin = [&](Pass pass, bool backward, Value stop) {
    StepOptions options = Options(/*training=*/true);
    options.number = options.number * kPasses + pass;
    options.backward = backward;
    options.stop = stop;
    return perturbed_step_->Begin(inputs, options, matrices_);
  };
  const auto calm = [&] {
    perturbation_.assign(static_cast<size_t>(batch_.rows()) * static_cast<size_t>(perturbed_.width), 0.0f);
    matrices_ = {perturbation_};
  };
  calm();
  PERUSE_RETURN_IF_ERROR(begin(kClean, /*backward=*/false, {}));
  perturbed_step_->Forward();
  CopyRows(perturbed_step_->output(), &clean_);

  PERUSE_RETURN_IF_ERROR(Ascend(inputs));
  PERUSE_RETURN_IF_ERROR(begin(kDisturbed, /*backward=*/true, perturbed_.normalised));
  perturbed_step_->Forward();
  const Block disturbed = perturbed_step_->output();
  CopyRows(disturbed, &disturbed_);
  Fill(perturbed_step_->output_gradient(), 0);
  double loss = SymmetricDivergence(disturbed, {clean_.data(), disturbed.rows, disturbed.cols, disturbed.cols}, scale,
                                    perturbed_step_->output_gradient(), {});
  perturbed_step_->Backward();

  calm();
  PERUSE_RETURN_IF_ERROR(begin(kClean, /*backward=*/true, {}));
  perturbed_step_->Forward();
  const Block clean = perturbed_step_->output();
  loss += objective_.Loss(part, batch_, clean, mass, perturbed_step_->output_gradient());
  SymmetricDivergence(clean, {disturbed_.data(), clean.rows, clean.cols, clean.cols}, scale,
                      perturbed_step_->output_gradient(), {});
  perturbed_step_->Backward();
  return loss;
}

}  // namespace peruse::train

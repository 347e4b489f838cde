#include "core/train/recipes/sift.h"

#include <algorithm>
#include <cmath>

#include "core/train/memory/random_stream.h"
#include "core/train/ops/loss.h"

namespace peruse::train {
namespace {

constexpr float kDeviation = 1e-2f;  // standard deviation of the initial perturbation
constexpr float kPace = 1e-4f;       // length of the step of gradient ascent

void CopyRows(const Block& from, std::vector<float>* to) {
  to->clear();
  for (int64_t r = 0; r < from.rows; ++r) to->insert(to->end(), from.row(r), from.row(r) + from.cols);
}

Block Like(const Block& block, std::vector<float>& values) {
  return {values.data(), block.rows, block.cols, block.cols};
}

}  // namespace

void Sift::Draw(uint64_t seed, int64_t tokens) {
  ++drawn_;
  perturbation_.resize(static_cast<size_t>(tokens * program_.width));
  const RandomStream random(seed, Purpose::kPerturbation);
  for (size_t i = 0; i < perturbation_.size(); ++i) {
    const auto normal = static_cast<float>(RandomStream::Normal(random.At(i, drawn_)));
    perturbation_[i] = kDeviation * std::clamp(normal, -2.0f, 2.0f);
  }
}

Result<double> Sift::Learn(const BatchInputs& inputs, const StepOptions& options, const Loss& loss, int64_t rows) {
  Draw(options.seed, inputs.batch.rows());
  return Learn(inputs, options, loss, rows, &perturbation_);
}

Status Sift::Begin(Pass pass, const BatchInputs& inputs, StepOptions options, const std::vector<float>& perturbation) {
  matrices_ = {perturbation};
  options.number = options.number * kPasses + pass;
  return step_.Begin(inputs, options, matrices_);
}

Result<int64_t> Sift::Rehearse(const BatchInputs& inputs, const StepOptions& options) {
  calm_.assign(static_cast<size_t>(inputs.batch.rows() * program_.width), 0.0f);
  StepOptions largest = options;
  largest.inputs = true;
  PERUSE_RETURN_IF_ERROR(Begin(kClean, inputs, largest, calm_));
  return step_.bytes();
}

// Takes one step of gradient ascent on the divergence from the unperturbed output.
Status Sift::Ascend(const BatchInputs& inputs, const StepOptions& options, std::vector<float>* perturbation) {
  StepOptions ascent = options;
  ascent.parameters = false;
  ascent.inputs = true;
  PERUSE_RETURN_IF_ERROR(Begin(kAscent, inputs, ascent, *perturbation));
  step_.Forward();
  Fill(step_.output_gradient(), 0);
  SymmetricDivergence(step_.output(), Like(step_.output(), clean_), 1, step_.output_gradient(), {});
  step_.Backward();
  const Block gradient = step_.input_gradient(0);
  double squares = 0;
  for (int64_t r = 0; r < gradient.rows; ++r) {
    for (int64_t c = 0; c < gradient.cols; ++c) squares += double{gradient.row(r)[c]} * double{gradient.row(r)[c]};
  }
  if (!std::isfinite(squares)) return OkStatus();
  for (int64_t r = 0; r < gradient.rows; ++r) {
    float largest = 0;
    for (int64_t c = 0; c < gradient.cols; ++c) largest = std::max(largest, std::fabs(gradient.row(r)[c]));
    float* own = perturbation->data() + r * gradient.cols;
    for (int64_t c = 0; c < gradient.cols; ++c) own[c] += kPace * gradient.row(r)[c] / (1e-6f + largest);
  }
  return OkStatus();
}

Result<double> Sift::Learn(const BatchInputs& inputs, const StepOptions& options, const Loss& loss, int64_t rows,
                           std::vector<float>* perturbation) {
  const double scale = double{weight_} / static_cast<double>(rows);
  calm_.assign(perturbation->size(), 0.0f);
  StepOptions forward = options;
  forward.backward = false;
  PERUSE_RETURN_IF_ERROR(Begin(kClean, inputs, forward, calm_));
  step_.Forward();
  CopyRows(step_.output(), &clean_);

  PERUSE_RETURN_IF_ERROR(Ascend(inputs, options, perturbation));
  StepOptions disturbed = options;
  disturbed.stop = program_.normalised;  // the embeddings are constants in this pass
  PERUSE_RETURN_IF_ERROR(Begin(kDisturbed, inputs, disturbed, *perturbation));
  step_.Forward();
  CopyRows(step_.output(), &disturbed_);
  Fill(step_.output_gradient(), 0);
  double sum = SymmetricDivergence(step_.output(), Like(step_.output(), clean_), scale, step_.output_gradient(), {});
  step_.Backward();

  PERUSE_RETURN_IF_ERROR(Begin(kClean, inputs, options, calm_));
  step_.Forward();
  sum += loss(step_.output(), step_.output_gradient());
  SymmetricDivergence(step_.output(), Like(step_.output(), disturbed_), scale, step_.output_gradient(), {});
  step_.Backward();
  return sum;
}

}  // namespace peruse::train

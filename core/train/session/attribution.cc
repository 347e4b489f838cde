#include "core/train/session/attribution.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/memory.h"

namespace peruse::train {
namespace {

constexpr size_t kBatchTokens = 1024;

Status NotFinite(const char* what) {
  return Unsupported(std::string("the model's ") + what + " are not finite numbers");
}

// Returns the points and weights of Gauss-Legendre quadrature on [0, 1].
std::vector<std::pair<double, double>> GaussLegendre(int32_t count) {
  std::vector<std::pair<double, double>> points;
  for (int32_t i = 0; i < count; ++i) {
    double x = std::cos(M_PI * (i + 0.75) / (count + 0.5));  // near the root of the Legendre polynomial
    double slope = 1;
    for (int32_t round = 0; round < 100; ++round) {
      double before = 1, value = x;
      for (int32_t n = 2; n <= count; ++n)
        before = std::exchange(value, ((2 * n - 1) * x * value - (n - 1) * before) / n);
      slope = count * (x * value - before) / (x * x - 1);
      const double change = value / slope;
      x -= change;
      if (std::fabs(change) < 1e-15) break;
    }
    points.push_back({(1 - x) / 2, 1 / ((1 - x * x) * slope * slope)});
  }
  return points;
}

}  // namespace

Result<std::unique_ptr<Attributor>> Attributor::Create(Trainee& trainee, int32_t threads) {
  PERUSE_ASSIGN_OR_RETURN(EmbeddingInputProgram model, trainee.WithEmbeddingInput(kLogits));
  PERUSE_ASSIGN_OR_RETURN(std::shared_ptr<Workers> workers, Workers::Create(threads));
  for (WeightTensor& weight_tensor : trainee.weight_tensors().tensors()) weight_tensor.trained = false;
  PERUSE_RETURN_IF_ERROR(trainee.BeginTraining(std::move(workers)));
  trainee.packed()->Pack();
  std::unique_ptr<Attributor> attributor(new Attributor(std::move(model)));
  attributor->packed_ = &trainee.packed()->parameters();
  attributor->step_ = std::make_unique<Step>(attributor->model_.program, *attributor->packed_);
  return attributor;
}

const float* Attributor::EmbeddingOf(int32_t id) const {
  return packed_->tables[static_cast<size_t>(model_.table.id)].values.row(id);
}

Result<Attribution> Attributor::Attribute(const AttributionRequest& request) {
  const auto width = static_cast<size_t>(model_.width);
  const size_t tokens = request.ids.size();
  std::vector<Point> points = {{0, 0}, {1, 0}};
  for (const auto& [position, weight] : GaussLegendre(request.steps)) points.push_back({position, weight});
  const size_t at_once = std::max<size_t>(1, kBatchTokens / tokens);
  const size_t numbers = SaturatingMultiply(tokens, width);
  PERUSE_RETURN_IF_ERROR(EnsureMemory(SaturatingMultiply(numbers, sizeof(double)), "the gradients"));
  std::vector<double> gradients(numbers), values;
  for (size_t first = 0; first < points.size(); first += at_once) {
    const std::span<const Point> part = std::span(points).subspan(first, std::min(at_once, points.size() - first));
    PERUSE_RETURN_IF_ERROR(Run(request, part, &gradients, &values));
  }
  Attribution result = {.tokens = {}, .value = values[1], .baseline_value = values[0]};
  for (size_t t = 0; t < tokens; ++t) {
    const float* word = EmbeddingOf(request.ids[t]);
    const float* base = EmbeddingOf(request.baseline[t]);
    double sum = 0;
    for (size_t c = 0; c < width; ++c) sum += (double{word[c]} - double{base[c]}) * gradients[t * width + c];
    if (!std::isfinite(sum)) return NotFinite("gradients");
    result.tokens.push_back(sum);
  }
  if (!std::isfinite(result.value) || !std::isfinite(result.baseline_value)) return NotFinite("logits");
  return result;
}

Status Attributor::Run(const AttributionRequest& request, std::span<const Point> points, std::vector<double>* gradients,
                       std::vector<double>* values) {
  const auto width = static_cast<size_t>(model_.width);
  const std::vector<ModelInput> texts(points.size(), ModelInput{request.ids, request.types});
  RaggedBatch batch;
  const size_t numbers = SaturatingMultiply(points.size() * request.ids.size(), width);
  PERUSE_RETURN_IF_ERROR(EnsureMemory(SaturatingMultiply(numbers, sizeof(float)), "the embeddings"));
  std::vector<float> added;
  added.reserve(numbers);
  for (const Point& point : points) {
    batch.Append(static_cast<int32_t>(request.ids.size()));
    for (size_t t = 0; t < request.ids.size(); ++t) {
      const float* word = EmbeddingOf(request.ids[t]);
      const float* base = EmbeddingOf(request.baseline[t]);
      for (size_t c = 0; c < width; ++c) {
        added.push_back(static_cast<float>((1 - point.position) * (double{base[c]} - double{word[c]})));
      }
    }
  }
  const std::span<const float> matrix = added;
  PERUSE_RETURN_IF_ERROR(
      step_->Begin({texts, batch, {}}, {.parameters = false, .inputs = true}, std::span(&matrix, 1)));
  step_->Forward();
  const Program& program = model_.program;
  const bool by_token = program.info(program.outputs[0].value).rows.domain == Domain::kTokens;
  Fill(step_->output_gradient(), 0);
  for (size_t i = 0; i < points.size(); ++i) {
    const auto text = static_cast<int32_t>(i);
    double value = 0;
    for (const auto& [row, column] : request.logits) {
      const int32_t at = by_token ? batch.start(text) + row : text;
      value += double{step_->output().row(at)[column]};
      step_->output_gradient().row(at)[column] += 1;
    }
    values->push_back(value);
  }
  step_->Backward();
  const Block gradient = step_->input_gradient(0);
  for (size_t i = 0; i < points.size(); ++i) {
    const int32_t start = batch.start(static_cast<int32_t>(i));
    for (size_t t = 0; gradient && t < request.ids.size(); ++t) {
      const float* row = gradient.row(start + static_cast<int32_t>(t));
      for (size_t c = 0; c < width; ++c) (*gradients)[t * width + c] += points[i].weight * double{row[c]};
    }
  }
  return OkStatus();
}

}  // namespace peruse::train

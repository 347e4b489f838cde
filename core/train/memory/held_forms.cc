#include "core/train/memory/held_forms.h"

#include <algorithm>

namespace peruse::train {
namespace {

void CopyRuns(std::span<const ElementRun> runs, const float* tensor, float* parameter) {
  for (const ElementRun& run : runs) {
    for (int64_t i = 0; i < run.count; ++i) parameter[run.to + i] = tensor[run.from + i * run.step];
  }
}

void AddRuns(std::span<const ElementRun> runs, const float* parameter, float* tensor) {
  for (const ElementRun& run : runs) {
    for (int64_t i = 0; i < run.count; ++i) tensor[run.from + i * run.step] += parameter[run.to + i];
  }
}

// Adds the gradient of a softmax over each row of `cols` elements of the tensor. `parameter` contains the probabilities.
void AddSoftmaxGradient(std::span<const ElementRun> runs, int64_t size, int64_t cols, const float* parameter,
                        const float* gradient, float* tensor) {
  std::vector<double> sums(static_cast<size_t>(size)), probabilities(sums.size());
  for (const ElementRun& run : runs) {
    double& sum = sums[static_cast<size_t>(run.from)];
    for (int64_t i = 0; i < run.count; ++i) sum += double{gradient[run.to + i]};
    probabilities[static_cast<size_t>(run.from)] = double{parameter[run.to]};
  }
  for (size_t row = 0; row < sums.size(); row += static_cast<size_t>(cols)) {
    double mean = 0;
    for (size_t i = row; i < row + static_cast<size_t>(cols); ++i) mean += sums[i] * probabilities[i];
    for (size_t i = row; i < row + static_cast<size_t>(cols); ++i) {
      tensor[i] += static_cast<float>(probabilities[i] * (sums[i] - mean));
    }
  }
}

}  // namespace

const float* HeldForms::Effective(size_t master) {
  const std::vector<Master>& masters = masters_.tensors();
  const Master& whole = masters[master];
  const LoraPair* pair = masters_.PairOf(master);
  if (pair == nullptr) return whole.values;
  const Master& a = masters[pair->a];
  const Master& b = masters[pair->b];
  const int64_t rank = a.shape[0], in = a.shape[1], out = b.shape[0];
  float* const sum = changed_.values().data();
  workers_->Multiply(out, in, rank, {b.values, rank, 1}, {a.values, in, 1}, sum, in, /*add=*/false);
  for (int64_t i = 0; i < whole.size; ++i) sum[i] = whole.values[i] + pair->scale * sum[i];
  return sum;
}

void HeldForms::Hold() {
  for (const Group& group : groups_) {
    if (group.direct) continue;
    for (const Masters::Place& place : group.places) {
      const ParameterTensor& tensor = *place.tensor;
      const float* from = Effective(place.master);
      std::vector<float> probabilities;
      if (IsSoftmax(tensor.layout)) {
        probabilities = SoftmaxOfRows({from, static_cast<size_t>(ElementCount(tensor.shape))}, tensor.shape[1]);
        from = probabilities.data();
      }
      CopyRuns(RunsOf(masters_.parameters().placement(tensor)), from, group.values);
    }
  }
}

void HeldForms::Gather() {
  for (const Group& group : groups_) {
    if (!group.direct && group.trained) GatherGroup(group);
  }
  // Zeroes the gradients, so that they are not gathered twice.
  std::fill(held_gradients_.values().begin(), held_gradients_.values().end(), 0.0f);
}

void HeldForms::GatherGroup(const Group& group) {
  for (const Masters::Place& place : group.places) {
    const ParameterTensor& tensor = *place.tensor;
    const LoraPair* pair = masters_.PairOf(place.master);
    const Master& master = masters_.tensors()[place.master];
    if (!master.trained && pair == nullptr) continue;
    float* const to = pair != nullptr ? changed_.values().data() : master.gradient;
    if (pair != nullptr) std::fill_n(to, master.size, 0.0f);
    const std::vector<ElementRun> runs = RunsOf(masters_.parameters().placement(tensor));
    if (IsSoftmax(tensor.layout)) {
      AddSoftmaxGradient(runs, master.size, tensor.shape[1], group.values, group.gradient, to);
    } else {
      AddRuns(runs, group.gradient, to);
    }
    if (pair != nullptr) GatherLora(*pair, to);
  }
}

// With W = W0 + s B A: dA = s B^T dW, dB = s dW A^T.
void HeldForms::GatherLora(const LoraPair& pair, float* gradient) {
  const Master& a = masters_.tensors()[pair.a];
  const Master& b = masters_.tensors()[pair.b];
  const int64_t rank = a.shape[0], in = a.shape[1], out = b.shape[0];
  for (int64_t i = 0; i < out * in; ++i) gradient[i] *= pair.scale;
  const Operand whole = {gradient, in, 1};
  workers_->Multiply(rank, in, out, Operand{b.values, rank, 1}.Transposed(), whole, a.gradient, in, /*add=*/true);
  workers_->Multiply(out, rank, in, whole, Operand{a.values, in, 1}.Transposed(), b.gradient, rank, /*add=*/true);
}

void HeldForms::ZeroGradients() {
  std::fill(gradients_.values().begin(), gradients_.values().end(), 0.0f);
  std::fill(held_gradients_.values().begin(), held_gradients_.values().end(), 0.0f);
}

}  // namespace peruse::train

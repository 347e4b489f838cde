#include "core/train/memory/held_forms.h"

#include <algorithm>
#include <utility>

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

// Plans the memory of held forms before it is allocated.
Result<std::unique_ptr<HeldForms>> HeldForms::Create(Masters& masters, std::shared_ptr<Workers> workers) {
  std::unique_ptr<HeldForms> held(new HeldForms(masters, std::move(workers)));
  PERUSE_RETURN_IF_ERROR(held->AddZeros());
  PERUSE_RETURN_IF_ERROR(held->AddMemory());
  held->Point();
  return held;
}

HeldForms::HeldForms(Masters& masters, std::shared_ptr<Workers> workers)
    : masters_(masters), workers_(std::move(workers)) {
  const Parameters& parameters = masters.parameters();
  held_.workers = workers_.get();
  for (const LinearSpec& spec : parameters.linears) held_.linears.push_back({.spec = spec});
  held_.constants.resize(parameters.constants.size());
  held_.tables.resize(parameters.tables.size());
  for (const std::span<float> row : masters.fixed_rows()) {
    const auto cols = static_cast<int64_t>(row.size());
    held_.constants.push_back({{row.data(), 1, cols, cols}, {}});
  }
  GroupPlaces();
}

int64_t HeldForms::SizeOf(ParameterId id) const {
  return masters_.parameters().rows(id) * masters_.parameters().cols(id);
}

// Whether these places, all of one parameter, are consecutive and fill `size` elements. The parameter then shares the tensors' memory.
bool HeldForms::LiesDirect(std::span<const Masters::Place> places, int64_t size) const {
  const std::vector<Master>& masters = masters_.tensors();
  int64_t end = 0;
  for (const Masters::Place& place : places) {
    const Master& master = masters[place.master];
    if (!IsInOrder(place.tensor->layout) || masters_.PairOf(place.master) != nullptr) return false;
    if (master.values != masters[places[0].master].values + end) return false;
    end += master.size;
  }
  return end == size;
}

void HeldForms::GroupPlaces() {
  const std::vector<Master>& masters = masters_.tensors();
  const std::span<const Masters::Place> places = masters_.places();
  shared_.assign(masters.size(), false);
  for (size_t first = 0, end = 0; first < places.size(); first = end) {
    Group group = {.parameter = places[first].tensor->parameter};
    for (end = first; end < places.size() && places[end].tensor->parameter == group.parameter;) ++end;
    group.places = places.subspan(first, end - first);
    for (const Masters::Place& place : group.places) {
      group.trained = group.trained || masters[place.master].trained || masters_.PairOf(place.master) != nullptr;
      group.again = group.again || shared_[place.master];
    }
    // A tensor that shares the gradient of an earlier parameter can only do so again if it is the whole parameter.
    group.direct = LiesDirect(group.places, SizeOf(group.parameter)) && (!group.again || group.places.size() == 1);
    for (const Masters::Place& place : group.places) {
      if (group.direct && group.trained) shared_[place.master] = true;
    }
    groups_.push_back(group);
  }
}

// Linear layers without a bias read zeros.
Status HeldForms::AddZeros() {
  int32_t widest = 0;
  for (const LinearParameter& linear : held_.linears) widest = std::max(widest, linear.spec.out);
  PERUSE_RETURN_IF_ERROR(zeros_.Resize(static_cast<size_t>(widest)));
  std::fill(zeros_.values().begin(), zeros_.values().end(), 0.0f);
  for (LinearParameter& linear : held_.linears) linear.bias = zeros_.values().data();
  return OkStatus();
}

Status HeldForms::AddMemory() {
  int64_t gradients = 0, held = 0, held_gradients = 0, changed = 0;
  for (const Group& group : groups_) {
    const int64_t size = SizeOf(group.parameter);
    if (!group.direct) held += size;
    if (group.trained && !group.direct) held_gradients += size;
    if (group.trained && group.direct && !group.again) gradients += size;
  }
  const std::vector<Master>& masters = masters_.tensors();
  for (size_t i = 0; i < masters.size(); ++i) gradients += masters[i].trained && !shared_[i] ? masters[i].size : 0;
  for (const LoraPair& pair : masters_.lora()) changed = std::max(changed, masters[pair.of].size);
  PERUSE_RETURN_IF_ERROR(gradients_.Resize(static_cast<size_t>(gradients)));
  PERUSE_RETURN_IF_ERROR(held_values_.Resize(static_cast<size_t>(held)));
  PERUSE_RETURN_IF_ERROR(held_gradients_.Resize(static_cast<size_t>(held_gradients)));
  return changed_.Resize(static_cast<size_t>(changed));
}

// Points parameters and masters to their memory.
void HeldForms::Point() {
  const auto take = [](float*& next, int64_t size) { return std::exchange(next, next + size); };
  float* next_gradient = gradients_.values().data();
  float* next_held = held_values_.values().data();
  float* next_held_gradient = held_gradients_.values().data();
  std::vector<Master>& masters = masters_.tensors();
  for (Master& master : masters) master.gradient = nullptr;
  for (Group& group : groups_) {
    const int64_t size = SizeOf(group.parameter);
    const Master& first = masters[group.places[0].master];
    if (!group.direct) {
      Set(group, take(next_held, size), group.trained ? take(next_held_gradient, size) : nullptr);
    } else if (group.again || !group.trained) {
      Set(group, first.values, first.gradient);
    } else {
      Set(group, first.values, next_gradient);
      for (const Masters::Place& place : group.places) {
        Master& master = masters[place.master];
        float* const own = take(next_gradient, master.size);
        if (master.trained) master.gradient = own;
      }
    }
  }
  for (size_t i = 0; i < masters.size(); ++i) {
    if (masters[i].trained && !shared_[i]) masters[i].gradient = take(next_gradient, masters[i].size);
  }
}

void HeldForms::Set(Group& group, float* values, float* gradient) {
  group.values = values;
  group.gradient = gradient;
  const ParameterId id = group.parameter;
  const auto number = static_cast<size_t>(id.number);
  const int64_t rows = masters_.parameters().rows(id), cols = masters_.parameters().cols(id);
  const auto matrix = [&](float* data) { return data == nullptr ? Block() : Block{data, rows, cols, cols}; };
  switch (id.kind) {
    case ParameterId::Kind::kWeight:
      held_.linears[number].weight = values;
      held_.linears[number].weight_gradient = gradient;
      return;
    case ParameterId::Kind::kBias:
      held_.linears[number].bias = values;
      held_.linears[number].bias_gradient = gradient;
      return;
    case ParameterId::Kind::kConstant:
      held_.constants[number] = {matrix(values), matrix(gradient)};
      return;
    case ParameterId::Kind::kTable:
      held_.tables[number] = {matrix(values), matrix(gradient)};
      return;
  }
}

int64_t HeldForms::bytes() const {
  int64_t floats = 0;
  for (const FloatBuffer* buffer : {&gradients_, &held_values_, &held_gradients_, &changed_}) {
    floats += static_cast<int64_t>(buffer->values().size());
  }
  return floats * static_cast<int64_t>(sizeof(float));
}

}  // namespace peruse::train

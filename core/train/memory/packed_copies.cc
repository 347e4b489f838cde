#include "core/train/memory/packed_copies.h"

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

const float* PackedCopies::Effective(size_t weight_tensor) {
  const std::vector<WeightTensor>& weight_tensors = weight_tensors_.tensors();
  const WeightTensor& whole = weight_tensors[weight_tensor];
  const LoraPair* pair = weight_tensors_.PairOf(weight_tensor);
  if (pair == nullptr) return whole.values;
  const WeightTensor& a = weight_tensors[pair->a];
  const WeightTensor& b = weight_tensors[pair->b];
  const int64_t rank = a.shape[0], in = a.shape[1], out = b.shape[0];
  float* const sum = changed_.values().data();
  workers_->Multiply(out, in, rank, {b.values, rank, 1}, {a.values, in, 1}, sum, in, /*add=*/false);
  for (int64_t i = 0; i < whole.size; ++i) sum[i] = whole.values[i] + pair->scale * sum[i];
  return sum;
}

void PackedCopies::Pack() {
  for (const Group& group : groups_) {
    if (group.direct) continue;
    for (const WeightTensors::Alias& alias : group.aliases) {
      const ParameterTensor& tensor = *alias.tensor;
      const float* from = Effective(alias.weight_tensor);
      std::vector<float> probabilities;
      if (IsSoftmax(tensor.layout)) {
        probabilities = SoftmaxOfRows({from, static_cast<size_t>(ElementCount(tensor.shape))}, tensor.shape[1]);
        from = probabilities.data();
      }
      CopyRuns(RunsOf(weight_tensors_.parameters().placement(tensor)), from, group.values);
    }
  }
}

void PackedCopies::Gather() {
  for (const Group& group : groups_) {
    if (!group.direct && group.trained) GatherGroup(group);
  }
  // Zeroes the gradients, so that they are not gathered twice.
  std::fill(packed_gradients_.values().begin(), packed_gradients_.values().end(), 0.0f);
}

void PackedCopies::GatherGroup(const Group& group) {
  for (const WeightTensors::Alias& alias : group.aliases) {
    const ParameterTensor& tensor = *alias.tensor;
    const LoraPair* pair = weight_tensors_.PairOf(alias.weight_tensor);
    const WeightTensor& weight_tensor = weight_tensors_.tensors()[alias.weight_tensor];
    if (!weight_tensor.trained && pair == nullptr) continue;
    float* const to = pair != nullptr ? changed_.values().data() : weight_tensor.gradient;
    if (pair != nullptr) std::fill_n(to, weight_tensor.size, 0.0f);
    const std::vector<ElementRun> runs = RunsOf(weight_tensors_.parameters().placement(tensor));
    if (IsSoftmax(tensor.layout)) {
      AddSoftmaxGradient(runs, weight_tensor.size, tensor.shape[1], group.values, group.gradient, to);
    } else {
      AddRuns(runs, group.gradient, to);
    }
    if (pair != nullptr) GatherLora(*pair, to);
  }
}

// With W = W0 + s B A: dA = s B^T dW, dB = s dW A^T.
void PackedCopies::GatherLora(const LoraPair& pair, float* gradient) {
  const WeightTensor& a = weight_tensors_.tensors()[pair.a];
  const WeightTensor& b = weight_tensors_.tensors()[pair.b];
  const int64_t rank = a.shape[0], in = a.shape[1], out = b.shape[0];
  for (int64_t i = 0; i < out * in; ++i) gradient[i] *= pair.scale;
  const Operand whole = {gradient, in, 1};
  workers_->Multiply(rank, in, out, Operand{b.values, rank, 1}.Transposed(), whole, a.gradient, in, /*add=*/true);
  workers_->Multiply(out, rank, in, whole, Operand{a.values, in, 1}.Transposed(), b.gradient, rank, /*add=*/true);
}

void PackedCopies::ZeroGradients() {
  std::fill(gradients_.values().begin(), gradients_.values().end(), 0.0f);
  std::fill(packed_gradients_.values().begin(), packed_gradients_.values().end(), 0.0f);
}

// Plans the memory of packed copies before it is allocated.
Result<std::unique_ptr<PackedCopies>> PackedCopies::Create(WeightTensors& weight_tensors,
                                                           std::shared_ptr<Workers> workers) {
  std::unique_ptr<PackedCopies> packed(new PackedCopies(weight_tensors, std::move(workers)));
  PERUSE_RETURN_IF_ERROR(packed->AddZeros());
  PERUSE_RETURN_IF_ERROR(packed->AddMemory());
  packed->Point();
  return packed;
}

PackedCopies::PackedCopies(WeightTensors& weight_tensors, std::shared_ptr<Workers> workers)
    : weight_tensors_(weight_tensors), workers_(std::move(workers)) {
  const Parameters& parameters = weight_tensors.parameters();
  packed_.workers = workers_.get();
  for (const LinearSpec& spec : parameters.linears) packed_.linears.push_back({.spec = spec});
  packed_.constants.resize(parameters.constants.size());
  packed_.tables.resize(parameters.tables.size());
  for (const std::span<float> row : weight_tensors.fixed_rows()) {
    const auto cols = static_cast<int64_t>(row.size());
    packed_.constants.push_back({{row.data(), 1, cols, cols}, {}});
  }
  GroupAliases();
}

int64_t PackedCopies::SizeOf(ParameterId id) const {
  return weight_tensors_.parameters().rows(id) * weight_tensors_.parameters().cols(id);
}

// Whether these aliases, all of one parameter, are consecutive and fill `size` elements. The parameter then shares the tensors' memory.
bool PackedCopies::LiesDirect(std::span<const WeightTensors::Alias> aliases, int64_t size) const {
  const std::vector<WeightTensor>& weight_tensors = weight_tensors_.tensors();
  int64_t end = 0;
  for (const WeightTensors::Alias& alias : aliases) {
    const WeightTensor& weight_tensor = weight_tensors[alias.weight_tensor];
    if (!IsInOrder(alias.tensor->layout) || weight_tensors_.PairOf(alias.weight_tensor) != nullptr) return false;
    if (weight_tensor.values != weight_tensors[aliases[0].weight_tensor].values + end) return false;
    end += weight_tensor.size;
  }
  return end == size;
}

void PackedCopies::GroupAliases() {
  const std::vector<WeightTensor>& weight_tensors = weight_tensors_.tensors();
  const std::span<const WeightTensors::Alias> aliases = weight_tensors_.aliases();
  shared_.assign(weight_tensors.size(), false);
  for (size_t first = 0, end = 0; first < aliases.size(); first = end) {
    Group group = {.parameter = aliases[first].tensor->parameter};
    for (end = first; end < aliases.size() && aliases[end].tensor->parameter == group.parameter;) ++end;
    group.aliases = aliases.subspan(first, end - first);
    for (const WeightTensors::Alias& alias : group.aliases) {
      group.trained = group.trained || weight_tensors[alias.weight_tensor].trained ||
                      weight_tensors_.PairOf(alias.weight_tensor) != nullptr;
      group.again = group.again || shared_[alias.weight_tensor];
    }
    // A tensor that shares the gradient of an earlier parameter can only do so again if it is the whole parameter.
    group.direct = LiesDirect(group.aliases, SizeOf(group.parameter)) && (!group.again || group.aliases.size() == 1);
    for (const WeightTensors::Alias& alias : group.aliases) {
      if (group.direct && group.trained) shared_[alias.weight_tensor] = true;
    }
    groups_.push_back(group);
  }
}

// Linear layers without a bias read zeros.
Status PackedCopies::AddZeros() {
  int32_t widest = 0;
  for (const LinearParameter& linear : packed_.linears) widest = std::max(widest, linear.spec.out);
  PERUSE_RETURN_IF_ERROR(zeros_.Resize(static_cast<size_t>(widest)));
  std::fill(zeros_.values().begin(), zeros_.values().end(), 0.0f);
  for (LinearParameter& linear : packed_.linears) linear.bias = zeros_.values().data();
  return OkStatus();
}

Status PackedCopies::AddMemory() {
  int64_t gradients = 0, packed = 0, packed_gradients = 0, changed = 0;
  for (const Group& group : groups_) {
    const int64_t size = SizeOf(group.parameter);
    if (!group.direct) packed += size;
    if (group.trained && !group.direct) packed_gradients += size;
    if (group.trained && group.direct && !group.again) gradients += size;
  }
  const std::vector<WeightTensor>& weight_tensors = weight_tensors_.tensors();
  for (size_t i = 0; i < weight_tensors.size(); ++i)
    gradients += weight_tensors[i].trained && !shared_[i] ? weight_tensors[i].size : 0;
  for (const LoraPair& pair : weight_tensors_.lora()) changed = std::max(changed, weight_tensors[pair.of].size);
  PERUSE_RETURN_IF_ERROR(gradients_.Resize(static_cast<size_t>(gradients)));
  PERUSE_RETURN_IF_ERROR(packed_values_.Resize(static_cast<size_t>(packed)));
  PERUSE_RETURN_IF_ERROR(packed_gradients_.Resize(static_cast<size_t>(packed_gradients)));
  return changed_.Resize(static_cast<size_t>(changed));
}

// Points parameters and tensors to their memory.
void PackedCopies::Point() {
  const auto take = [](float*& next, int64_t size) { return std::exchange(next, next + size); };
  float* next_gradient = gradients_.values().data();
  float* next_packed = packed_values_.values().data();
  float* next_packed_gradient = packed_gradients_.values().data();
  std::vector<WeightTensor>& weight_tensors = weight_tensors_.tensors();
  for (WeightTensor& weight_tensor : weight_tensors) weight_tensor.gradient = nullptr;
  for (Group& group : groups_) {
    const int64_t size = SizeOf(group.parameter);
    const WeightTensor& first = weight_tensors[group.aliases[0].weight_tensor];
    if (!group.direct) {
      Set(group, take(next_packed, size), group.trained ? take(next_packed_gradient, size) : nullptr);
    } else if (group.again || !group.trained) {
      Set(group, first.values, first.gradient);
    } else {
      Set(group, first.values, next_gradient);
      for (const WeightTensors::Alias& alias : group.aliases) {
        WeightTensor& weight_tensor = weight_tensors[alias.weight_tensor];
        float* const own = take(next_gradient, weight_tensor.size);
        if (weight_tensor.trained) weight_tensor.gradient = own;
      }
    }
  }
  for (size_t i = 0; i < weight_tensors.size(); ++i) {
    if (weight_tensors[i].trained && !shared_[i])
      weight_tensors[i].gradient = take(next_gradient, weight_tensors[i].size);
  }
}

void PackedCopies::Set(Group& group, float* values, float* gradient) {
  group.values = values;
  group.gradient = gradient;
  const ParameterId id = group.parameter;
  const auto number = static_cast<size_t>(id.number);
  const int64_t rows = weight_tensors_.parameters().rows(id), cols = weight_tensors_.parameters().cols(id);
  const auto matrix = [&](float* data) { return data == nullptr ? Block() : Block{data, rows, cols, cols}; };
  switch (id.kind) {
    case ParameterId::Kind::kWeight:
      packed_.linears[number].weight = values;
      packed_.linears[number].weight_gradient = gradient;
      return;
    case ParameterId::Kind::kBias:
      packed_.linears[number].bias = values;
      packed_.linears[number].bias_gradient = gradient;
      return;
    case ParameterId::Kind::kConstant:
      packed_.constants[number] = {matrix(values), matrix(gradient)};
      return;
    case ParameterId::Kind::kTable:
      packed_.tables[number] = {matrix(values), matrix(gradient)};
      return;
  }
}

int64_t PackedCopies::bytes() const {
  int64_t floats = 0;
  for (const FloatBuffer* buffer : {&gradients_, &packed_values_, &packed_gradients_, &changed_}) {
    floats += static_cast<int64_t>(buffer->values().size());
  }
  return floats * static_cast<int64_t>(sizeof(float));
}

}  // namespace peruse::train

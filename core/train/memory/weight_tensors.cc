#include "core/train/memory/weight_tensors.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/formats/quantize.h"
#include "core/train/memory/random_stream.h"
#include "core/weights/float_reader.h"

namespace peruse::train {
namespace {

class WeightTensorWriter : public TensorWriter {
 public:
  WeightTensorWriter(const WeightTensor& weight_tensor, DType dtype)
      : reader_(dtype, weight_tensor.size, 1, [&weight_tensor](int32_t first, std::span<const float> values) {
          if (!AllFinite(values)) {
            return MalformedFile("tensor \"" + weight_tensor.file_name +
                                 "\" holds NaN or infinity: nothing can be computed with it");
          }
          std::copy(values.begin(), values.end(), weight_tensor.values + first);
          return OkStatus();
        }) {}
  Status Feed(std::span<const uint8_t> bytes) override { return reader_.Feed(bytes); }

 private:
  FloatReader reader_;
};

}  // namespace

std::optional<int32_t> LayerNumber(const std::string& name) {
  const auto is_digit = [&](size_t at) { return at < name.size() && name[at] >= '0' && name[at] <= '9'; };
  for (const std::string_view word : {"layer.", "layers."}) {
    size_t at = name.find(word);
    if (at == std::string::npos || !is_digit(at + word.size())) continue;
    int32_t number = 0;
    for (at += word.size(); is_digit(at); ++at) number = number * 10 + (name[at] - '0');
    return number;
  }
  return std::nullopt;
}

WeightTensors::WeightTensors(const Program& program, const Parameters& parameters, std::vector<std::string> prefixes)
    : parameters_(parameters), names_(std::move(prefixes)) {
  norms_.resize(parameters.constants.size());
  for (const Op& op : program.ops) {
    const auto add = [&](Value value) {
      if (value.valid()) norms_[static_cast<size_t>(program.info(value).constant)] = true;
    };
    if (const auto* norm = std::get_if<ops::LayerNorm>(&op)) add(norm->norm.weight), add(norm->norm.bias);
    if (const auto* norm = std::get_if<ops::RmsNorm>(&op)) add(norm->weight);
  }
}

// Collects each tensor once, in the order of parameters and of rows within a parameter.
void WeightTensors::CollectTensors() {
  for (const ParameterTensor& tensor : parameters_.tensors) aliases_.push_back({&tensor, 0});
  const auto rank = [&](const Alias& alias) {
    using Kind = ParameterId::Kind;
    const ParameterId id = alias.tensor->parameter;
    const int group = id.kind == Kind::kTable ? 2 : id.kind == Kind::kConstant ? 1 : 0;
    const int64_t first = RunsOf(parameters_.placement(*alias.tensor), 0, 1).front().to;
    return std::tuple(group, id.number, id.kind, first);
  };
  std::stable_sort(aliases_.begin(), aliases_.end(), [&](const Alias& a, const Alias& b) { return rank(a) < rank(b); });
  for (Alias& alias : aliases_) {
    const ParameterTensor& tensor = *alias.tensor;
    const std::string& name = names_.Of(tensor);
    const auto [found, added] = by_name_.emplace(name, weight_tensors_.size());
    alias.weight_tensor = found->second;
    if (added) {
      weight_tensors_.push_back({.name = name,
                                 .head = tensor.head,
                                 .shape = tensor.shape,
                                 .size = ElementCount(tensor.shape),
                                 .fresh = true});
    }
    WeightTensor& weight_tensor = weight_tensors_[alias.weight_tensor];
    // the encoder uses the tensor, too, so it does not belong to the head
    if (tensor.head.empty()) weight_tensor.head.clear();
    const bool constant = tensor.parameter.kind == ParameterId::Kind::kConstant;
    weight_tensor.norm = weight_tensor.norm || (constant && norms_[static_cast<size_t>(tensor.parameter.number)]);
  }
}

Status WeightTensors::Begin(const TensorNames& names, std::span<const NeededTensor>) {
  names_ = names;
  CollectTensors();
  return AllocateValues();
}

Result<std::unique_ptr<TensorWriter>> WeightTensors::Open(const NeededTensor& tensor, const TensorInfo& stored,
                                                          Content) {
  WeightTensor& weight_tensor = weight_tensors_[by_name_.find(tensor.name)->second];
  weight_tensor.fresh = false;
  weight_tensor.file_name = stored.name;
  return std::unique_ptr<TensorWriter>(std::make_unique<WeightTensorWriter>(weight_tensor, *stored.dtype));
}

Status WeightTensors::BeginFresh() {
  PERUSE_RETURN_IF_ERROR(names_.Resolve({}));
  CollectTensors();
  return AllocateValues();
}

Status WeightTensors::AllocateValues() {
  int64_t size = 0;
  for (const WeightTensor& weight_tensor : weight_tensors_) size += weight_tensor.size;
  PERUSE_RETURN_IF_ERROR(values_.Resize(static_cast<size_t>(size)));
  float* next = values_.values().data();
  for (WeightTensor& weight_tensor : weight_tensors_) {
    weight_tensor.values = next;
    next += weight_tensor.size;
  }
  return OkStatus();
}

void WeightTensors::PermuteRows(int32_t linear, std::span<const int32_t> order) {
  for (const Alias& alias : aliases_) {
    if (!IsOfLinear(alias.tensor->parameter, linear)) continue;
    const WeightTensor& weight_tensor = weight_tensors_[alias.weight_tensor];
    if (weight_tensor.fresh) continue;
    const std::vector<float> before(weight_tensor.values, weight_tensor.values + weight_tensor.size);
    const auto width = static_cast<size_t>(weight_tensor.size) / order.size();
    for (size_t i = 0; i < order.size(); ++i)
      std::copy_n(before.data() + static_cast<size_t>(order[i]) * width, width, weight_tensor.values + i * width);
  }
}

Status WeightTensors::AddLora(size_t of, int32_t rank, float alpha) {
  const int64_t out = weight_tensors_[of].shape[0], in = weight_tensors_[of].size / out;
  FloatBuffer values;
  PERUSE_RETURN_IF_ERROR(values.Resize(static_cast<size_t>(rank * (in + out))));
  const auto add = [&](const char* side, int64_t rows, int64_t cols, float* memory) {
    WeightTensor weight_tensor;
    weight_tensor.name = weight_tensors_[of].name + side;
    weight_tensor.shape = {rows, cols};
    weight_tensor.size = rows * cols;
    weight_tensor.fresh = weight_tensor.trained = true;
    weight_tensor.values = memory;
    weight_tensors_.push_back(std::move(weight_tensor));
    return weight_tensors_.size() - 1;
  };
  float* const memory = values.values().data();
  const size_t a = add(".lora_A", rank, in, memory);
  lora_.push_back({of, a, add(".lora_B", out, rank, memory + rank * in), alpha / static_cast<float>(rank)});
  lora_values_.push_back(std::move(values));
  return OkStatus();
}

const LoraPair* WeightTensors::PairOf(size_t weight_tensor) const {
  for (const LoraPair& pair : lora_) {
    if (pair.of == weight_tensor) return &pair;
  }
  return nullptr;
}

int32_t WeightTensors::AddFixedRow(int32_t cols, float value) {
  fixed_.emplace_back(static_cast<size_t>(cols), value);
  return static_cast<int32_t>(parameters_.constants.size() + fixed_.size()) - 1;
}

Status WeightTensors::KeepStart() {
  PERUSE_RETURN_IF_ERROR(start_.Resize(values_.values().size()));
  std::copy(values_.values().begin(), values_.values().end(), start_.values().begin());
  return OkStatus();
}

void WeightTensors::RestoreStart() {
  std::copy(start_.values().begin(), start_.values().end(), values_.values().begin());
  weight_tensors_.resize(weight_tensors_.size() - 2 * lora_.size());
  lora_.clear();
  lora_values_.clear();
}

int64_t WeightTensors::bytes() const {
  size_t floats = start_.values().size() + values_.values().size();
  for (const FloatBuffer& buffer : lora_values_) floats += buffer.values().size();
  return static_cast<int64_t>(floats * sizeof(float));
}

void WeightTensors::Initialise(uint64_t seed, float deviation) {
  const RandomStream random(seed, Purpose::kTensor);
  for (size_t number = 0; number < weight_tensors_.size(); ++number) {
    WeightTensor& weight_tensor = weight_tensors_[number];
    if (!weight_tensor.fresh) continue;
    const bool a = weight_tensor.name.ends_with(".lora_A"), b = weight_tensor.name.ends_with(".lora_B");
    if (b || weight_tensor.name.ends_with("bias")) {
      std::fill_n(weight_tensor.values, weight_tensor.size, 0.0f);
      continue;
    }
    if (weight_tensor.norm) {
      std::fill_n(weight_tensor.values, weight_tensor.size, 1.0f);
      continue;
    }
    // Like peft's kaiming_uniform_(a = sqrt(5)): uniform within 1 / sqrt(in).
    const float reach = a ? 1 / std::sqrt(static_cast<float>(weight_tensor.shape[1])) : 0;
    for (int64_t i = 0; i < weight_tensor.size; ++i) {
      const RandomStream::Words words = random.At(static_cast<size_t>(i), number);
      weight_tensor.values[i] = a ? reach * static_cast<float>(2 * RandomStream::OpenUnit(words[0]) - 1)
                                  : deviation * static_cast<float>(RandomStream::Normal(words));
    }
  }
}

void WeightTensors::PassThrough() {
  for (WeightTensor& weight_tensor : weight_tensors_) {
    const bool square = weight_tensor.shape.size() == 2 && weight_tensor.shape[0] == weight_tensor.shape[1];
    if (!weight_tensor.fresh || weight_tensor.head.empty() || !square) continue;
    for (int64_t i = 0; i < weight_tensor.size; ++i)
      weight_tensor.values[i] = i % (weight_tensor.shape[1] + 1) == 0 ? 1.0f : 0.0f;
  }
}

}  // namespace peruse::train

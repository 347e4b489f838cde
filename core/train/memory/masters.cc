#include "core/train/memory/masters.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/formats/quantize.h"
#include "core/train/memory/random_stream.h"
#include "core/weights/float_reader.h"

namespace peruse::train {
namespace {

class MasterWriter : public TensorWriter {
 public:
  MasterWriter(const Master& master, DType dtype)
      : reader_(dtype, master.size, 1, [&master](int32_t first, std::span<const float> values) {
          if (!AllFinite(values)) {
            return MalformedFile("tensor \"" + master.file_name +
                                 "\" holds NaN or infinity: nothing can be computed with it");
          }
          std::copy(values.begin(), values.end(), master.values + first);
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

Masters::Masters(const Program& program, const Parameters& parameters, std::vector<std::string> prefixes)
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
void Masters::CollectMasters() {
  for (const ParameterTensor& tensor : parameters_.tensors) places_.push_back({&tensor, 0});
  const auto rank = [&](const Place& place) {
    using Kind = ParameterId::Kind;
    const ParameterId id = place.tensor->parameter;
    const int group = id.kind == Kind::kTable ? 2 : id.kind == Kind::kConstant ? 1 : 0;
    const int64_t first = RunsOf(parameters_.placement(*place.tensor), 0, 1).front().to;
    return std::tuple(group, id.number, id.kind, first);
  };
  std::stable_sort(places_.begin(), places_.end(), [&](const Place& a, const Place& b) { return rank(a) < rank(b); });
  for (Place& place : places_) {
    const ParameterTensor& tensor = *place.tensor;
    const std::string& name = names_.Of(tensor);
    const auto [found, added] = by_name_.emplace(name, masters_.size());
    place.master = found->second;
    if (added) {
      masters_.push_back({.name = name,
                          .head = tensor.head,
                          .shape = tensor.shape,
                          .size = ElementCount(tensor.shape),
                          .fresh = true});
    }
    Master& master = masters_[place.master];
    // the encoder uses the tensor, too, so it does not belong to the head
    if (tensor.head.empty()) master.head.clear();
    const bool constant = tensor.parameter.kind == ParameterId::Kind::kConstant;
    master.norm = master.norm || (constant && norms_[static_cast<size_t>(tensor.parameter.number)]);
  }
}

Status Masters::Begin(const TensorNames& names, std::span<const NeededTensor>) {
  names_ = names;
  CollectMasters();
  return AllocateValues();
}

Result<std::unique_ptr<TensorWriter>> Masters::Open(const NeededTensor& tensor, const TensorInfo& stored, Content) {
  Master& master = masters_[by_name_.find(tensor.name)->second];
  master.fresh = false;
  master.file_name = stored.name;
  return std::unique_ptr<TensorWriter>(std::make_unique<MasterWriter>(master, *stored.dtype));
}

Status Masters::BeginFresh() {
  PERUSE_RETURN_IF_ERROR(names_.Resolve({}));
  CollectMasters();
  return AllocateValues();
}

Status Masters::AllocateValues() {
  int64_t size = 0;
  for (const Master& master : masters_) size += master.size;
  PERUSE_RETURN_IF_ERROR(values_.Resize(static_cast<size_t>(size)));
  float* next = values_.values().data();
  for (Master& master : masters_) {
    master.values = next;
    next += master.size;
  }
  return OkStatus();
}

void Masters::PermuteRows(int32_t linear, std::span<const int32_t> order) {
  for (const Place& place : places_) {
    if (!IsOfLinear(place.tensor->parameter, linear)) continue;
    const Master& master = masters_[place.master];
    if (master.fresh) continue;
    const std::vector<float> before(master.values, master.values + master.size);
    const auto width = static_cast<size_t>(master.size) / order.size();
    for (size_t i = 0; i < order.size(); ++i)
      std::copy_n(before.data() + static_cast<size_t>(order[i]) * width, width, master.values + i * width);
  }
}

Status Masters::AddLora(size_t of, int32_t rank, float alpha) {
  const int64_t out = masters_[of].shape[0], in = masters_[of].size / out;
  FloatBuffer values;
  PERUSE_RETURN_IF_ERROR(values.Resize(static_cast<size_t>(rank * (in + out))));
  const auto add = [&](const char* side, int64_t rows, int64_t cols, float* memory) {
    Master master;
    master.name = masters_[of].name + side;
    master.shape = {rows, cols};
    master.size = rows * cols;
    master.fresh = master.trained = true;
    master.values = memory;
    masters_.push_back(std::move(master));
    return masters_.size() - 1;
  };
  float* const memory = values.values().data();
  const size_t a = add(".lora_A", rank, in, memory);
  lora_.push_back({of, a, add(".lora_B", out, rank, memory + rank * in), alpha / static_cast<float>(rank)});
  lora_values_.push_back(std::move(values));
  return OkStatus();
}

const LoraPair* Masters::PairOf(size_t master) const {
  for (const LoraPair& pair : lora_) {
    if (pair.of == master) return &pair;
  }
  return nullptr;
}

int32_t Masters::AddFixedRow(int32_t cols, float value) {
  fixed_.emplace_back(static_cast<size_t>(cols), value);
  return static_cast<int32_t>(parameters_.constants.size() + fixed_.size()) - 1;
}

Status Masters::KeepStart() {
  PERUSE_RETURN_IF_ERROR(start_.Resize(values_.values().size()));
  std::copy(values_.values().begin(), values_.values().end(), start_.values().begin());
  return OkStatus();
}

void Masters::RestoreStart() {
  std::copy(start_.values().begin(), start_.values().end(), values_.values().begin());
  masters_.resize(masters_.size() - 2 * lora_.size());
  lora_.clear();
  lora_values_.clear();
}

int64_t Masters::bytes() const {
  size_t floats = start_.values().size() + values_.values().size();
  for (const FloatBuffer& buffer : lora_values_) floats += buffer.values().size();
  return static_cast<int64_t>(floats * sizeof(float));
}

void Masters::Initialise(uint64_t seed, float deviation) {
  const RandomStream random(seed, Purpose::kTensor);
  for (size_t number = 0; number < masters_.size(); ++number) {
    Master& master = masters_[number];
    if (!master.fresh) continue;
    const bool a = master.name.ends_with(".lora_A"), b = master.name.ends_with(".lora_B");
    if (b || master.name.ends_with("bias")) {
      std::fill_n(master.values, master.size, 0.0f);
      continue;
    }
    if (master.norm) {
      std::fill_n(master.values, master.size, 1.0f);
      continue;
    }
    // Like peft's kaiming_uniform_(a = sqrt(5)): uniform within 1 / sqrt(in).
    const float reach = a ? 1 / std::sqrt(static_cast<float>(master.shape[1])) : 0;
    for (int64_t i = 0; i < master.size; ++i) {
      const RandomStream::Words words = random.At(static_cast<size_t>(i), number);
      master.values[i] = a ? reach * static_cast<float>(2 * RandomStream::OpenUnit(words[0]) - 1)
                           : deviation * static_cast<float>(RandomStream::Normal(words));
    }
  }
}

void Masters::PassThrough() {
  for (Master& master : masters_) {
    const bool square = master.shape.size() == 2 && master.shape[0] == master.shape[1];
    if (!master.fresh || master.head.empty() || !square) continue;
    for (int64_t i = 0; i < master.size; ++i) master.values[i] = i % (master.shape[1] + 1) == 0 ? 1.0f : 0.0f;
  }
}

}  // namespace peruse::train

// Memory of masters: gradients, and parameters whose layout differs from their tensors.
#include <algorithm>
#include <utility>

#include "core/train/masters.h"

namespace peruse::train {

void Masters::AddLora(size_t of, int32_t rank, float alpha) {
  const auto add = [&](const char* side, int64_t rows, int64_t cols) {
    Master master;
    master.name = masters_[of].name + side;
    master.shape = {rows, cols};
    master.size = rows * cols;
    master.fresh = master.trained = true;
    masters_.push_back(std::move(master));
    return masters_.size() - 1;
  };
  const int64_t out = masters_[of].shape[0], in = masters_[of].size / out;
  const size_t a = add(".lora_A", rank, in);
  lora_.push_back({of, a, add(".lora_B", out, rank), alpha / static_cast<float>(rank)});
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
}

int32_t Masters::AddFixedRow(int32_t cols, float value) {
  fixed_.emplace_back(static_cast<size_t>(cols), value);
  held_.constants.push_back({{fixed_.back().data(), 1, cols, cols}, {}});
  return static_cast<int32_t>(held_.constants.size()) - 1;
}

// Whether these places, all of one parameter, are consecutive and fill `size` elements. The parameter then shares the tensors' memory.
bool Masters::LiesDirect(std::span<const Place> places, int64_t size) const {
  int64_t end = 0;
  for (const Place& place : places) {
    const Master& master = masters_[place.master];
    if (!std::holds_alternative<layouts::InOrder>(place.tensor->layout) || PairOf(place.master) != nullptr)
      return false;
    if (master.values != masters_[places[0].master].values + end) return false;
    end += master.size;
  }
  return end == size;
}

Status Masters::Allocate(std::shared_ptr<Workers> workers) {
  if (!workers) {
    PERUSE_ASSIGN_OR_RETURN(workers, Workers::Create(/*threads=*/1));
  }
  workers_ = std::move(workers);
  held_.workers = workers_.get();
  PERUSE_RETURN_IF_ERROR(AllocateLora());
  PERUSE_RETURN_IF_ERROR(AllocateZeros());
  return AllocateHeld();
}

// LoRA pairs are the only masters that are not in values_.
Status Masters::AllocateLora() {
  int64_t more = 0, largest = 0;
  for (const LoraPair& pair : lora_) {
    more += masters_[pair.a].size + masters_[pair.b].size;
    largest = std::max(largest, masters_[pair.of].size);
  }
  PERUSE_RETURN_IF_ERROR(lora_values_.Resize(static_cast<size_t>(more)));
  PERUSE_RETURN_IF_ERROR(changed_.Resize(static_cast<size_t>(largest)));
  float* next = lora_values_.values().data();
  for (const LoraPair& pair : lora_) {
    for (const size_t side : {pair.a, pair.b}) {
      masters_[side].values = next;
      next += masters_[side].size;
    }
  }
  return OkStatus();
}

// Linear layers without a bias read zeros.
Status Masters::AllocateZeros() {
  int32_t widest = 0;
  for (const LinearSpec& spec : parameters_.linears) widest = std::max(widest, spec.out);
  PERUSE_RETURN_IF_ERROR(zeros_.Resize(static_cast<size_t>(widest)));
  std::fill(zeros_.values().begin(), zeros_.values().end(), 0.0f);
  for (size_t i = 0; i < held_.linears.size(); ++i) {
    held_.linears[i].spec = parameters_.linears[i];
    held_.linears[i].bias = zeros_.values().data();
  }
  return OkStatus();
}

std::vector<Masters::Group> Masters::GroupPlaces() {
  std::vector<Group> groups;
  for (Master& master : masters_) master.shared = false;
  for (size_t first = 0, end = 0; first < places_.size(); first = end) {
    Group group = {.parameter = places_[first].tensor->parameter};
    for (end = first; end < places_.size() && places_[end].tensor->parameter == group.parameter;) ++end;
    group.places = std::span(places_).subspan(first, end - first);
    for (const Place& place : group.places) {
      group.trained = group.trained || masters_[place.master].trained || PairOf(place.master) != nullptr;
      group.again = group.again || masters_[place.master].shared;
    }
    // A tensor that shares the gradient of an earlier parameter can only do so again if it is the whole parameter.
    group.direct = LiesDirect(group.places, SizeOf(group.parameter)) && (!group.again || group.places.size() == 1);
    for (Place& place : group.places) {
      place.direct = group.direct;
      if (group.direct && group.trained) masters_[place.master].shared = true;
    }
    groups.push_back(group);
  }
  return groups;
}

Status Masters::AllocateHeld() {
  const std::vector<Group> groups = GroupPlaces();
  int64_t gradients = 0, held = 0, held_gradients = 0;
  for (const Group& group : groups) {
    const int64_t size = SizeOf(group.parameter);
    if (!group.direct) held += size;
    if (group.trained && !group.direct) held_gradients += size;
    if (group.trained && group.direct && !group.again) gradients += size;
  }
  for (const Master& master : masters_) gradients += master.trained && !master.shared ? master.size : 0;
  PERUSE_RETURN_IF_ERROR(gradients_.Resize(static_cast<size_t>(gradients)));
  PERUSE_RETURN_IF_ERROR(held_values_.Resize(static_cast<size_t>(held)));
  PERUSE_RETURN_IF_ERROR(held_gradients_.Resize(static_cast<size_t>(held_gradients)));

  const auto take = [](float*& next, int64_t size) { return std::exchange(next, next + size); };
  float* next_gradient = gradients_.values().data();
  float* next_held = held_values_.values().data();
  float* next_held_gradient = held_gradients_.values().data();
  for (Master& master : masters_) master.gradient = nullptr;
  for (const Group& group : groups) {
    const int64_t size = SizeOf(group.parameter);
    Master& first = masters_[group.places[0].master];
    if (!group.direct) {
      float* const values = take(next_held, size);
      SetHeld(group.parameter, values, group.trained ? take(next_held_gradient, size) : nullptr);
    } else if (group.again || !group.trained) {
      SetHeld(group.parameter, first.values, first.gradient);
    } else {
      float* gradient = next_gradient;
      SetHeld(group.parameter, first.values, gradient);
      for (const Place& place : group.places) {
        Master& master = masters_[place.master];
        float* const own = take(next_gradient, master.size);
        if (master.trained) master.gradient = own;
      }
    }
  }
  for (Master& master : masters_) {
    if (master.trained && !master.shared) master.gradient = take(next_gradient, master.size);
  }
  return OkStatus();
}

void Masters::SetHeld(ParameterId id, float* values, float* gradient) {
  const auto number = static_cast<size_t>(id.number);
  const int64_t rows = parameters_.rows(id), cols = parameters_.cols(id);
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

float* Masters::Held(ParameterId id, bool gradient) const {
  const auto number = static_cast<size_t>(id.number);
  switch (id.kind) {
    case ParameterId::Kind::kWeight:
      return gradient ? held_.linears[number].weight_gradient : held_.linears[number].weight;
    case ParameterId::Kind::kBias:
      return gradient ? held_.linears[number].bias_gradient : held_.linears[number].bias;
    case ParameterId::Kind::kConstant:
      return (gradient ? held_.constants[number].gradient : held_.constants[number].values).data;
    case ParameterId::Kind::kTable:
      return (gradient ? held_.tables[number].gradient : held_.tables[number].values).data;
  }
  return nullptr;
}

int64_t Masters::bytes() const {
  int64_t floats = 0;
  for (const FloatBuffer* buffer :
       {&start_, &values_, &gradients_, &held_values_, &held_gradients_, &changed_, &lora_values_}) {
    floats += static_cast<int64_t>(buffer->values().size());
  }
  return floats * static_cast<int64_t>(sizeof(float));
}

}  // namespace peruse::train

// Memory of masters: gradients, and parameters whose layout differs from their tensors.
#include <algorithm>

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
    if (!std::holds_alternative<layouts::InOrder>(place.tensor->layout)) return false;
    for (const LoraPair& pair : lora_) {
      if (pair.of == place.master) return false;
    }
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
  // Masters of LoRA pairs come after all others.
  int64_t more = 0, largest = 0;
  for (const LoraPair& pair : lora_) {
    more += masters_[pair.a].size + masters_[pair.b].size;
    largest = std::max(largest, masters_[pair.of].size);
  }
  PERUSE_RETURN_IF_ERROR(lora_values_.Resize(static_cast<size_t>(more)));
  PERUSE_RETURN_IF_ERROR(changed_.Resize(static_cast<size_t>(largest)));
  float* next = lora_values_.values().data();
  for (const LoraPair& pair : lora_) {
    masters_[pair.a].values = next;
    masters_[pair.b].values = next + masters_[pair.a].size;
    next += masters_[pair.a].size + masters_[pair.b].size;
  }
  int32_t widest = 0;
  for (const LinearSpec& spec : parameters_.linears) widest = std::max(widest, spec.out);
  PERUSE_RETURN_IF_ERROR(zeros_.Resize(static_cast<size_t>(widest)));
  std::fill(zeros_.values().begin(), zeros_.values().end(), 0.0f);
  for (size_t i = 0; i < held_.linears.size(); ++i) {
    held_.linears[i].spec = parameters_.linears[i];
    held_.linears[i].bias = zeros_.values().data();
  }
  // The first pass counts memory, the second assigns it.
  for (const bool hand_out : {false, true}) {
    int64_t gradients = 0, own = 0, own_gradients = 0;
    for (Master& master : masters_) master.gradient = nullptr;
    const auto take = [&](FloatBuffer& buffer, int64_t& used, int64_t size) {
      float* const at = hand_out ? buffer.values().data() + used : nullptr;
      used += size;
      return at;
    };
    std::vector<uint8_t> given(masters_.size());
    for (size_t first = 0, end = 0; first < places_.size(); first = end) {
      const ParameterId id = places_[first].tensor->parameter;
      for (end = first; end < places_.size() && places_[end].tensor->parameter == id;) ++end;
      const std::span<Place> places = std::span(places_).subspan(first, end - first);
      const int64_t size = SizeOf(id);
      bool trained = false, taken = false;
      for (const Place& place : places) {
        trained = trained || masters_[place.master].trained;
        taken = taken || given[place.master] != 0;
        for (const LoraPair& pair : lora_) trained = trained || pair.of == place.master;
      }
      // A tensor that already has a gradient from another parameter can only share memory if it is the whole parameter.
      const bool direct = LiesDirect(places, size) && (!taken || places.size() == 1);
      float* values = masters_[places[0].master].values;
      float* gradient = nullptr;
      if (direct) {
        if (trained && !taken) gradient = take(gradients_, gradients, size);
        if (taken) gradient = masters_[places[0].master].gradient;
        float* to = gradient;
        for (const Place& place : places) {
          Master& master = masters_[place.master];
          if (!taken && trained && master.trained) master.gradient = to;
          if (to != nullptr) to += master.size;
          if (trained) given[place.master] = 1;
        }
      } else {
        values = take(held_values_, own, size);
        if (trained) gradient = take(held_gradients_, own_gradients, size);
      }
      for (Place& place : places) place.direct = direct;
      SetHeld(id, values, gradient);
    }
    for (size_t i = 0; i < masters_.size(); ++i) {
      if (masters_[i].trained && given[i] == 0) masters_[i].gradient = take(gradients_, gradients, masters_[i].size);
    }
    if (hand_out) break;
    PERUSE_RETURN_IF_ERROR(gradients_.Resize(static_cast<size_t>(gradients)));
    PERUSE_RETURN_IF_ERROR(held_values_.Resize(static_cast<size_t>(own)));
    PERUSE_RETURN_IF_ERROR(held_gradients_.Resize(static_cast<size_t>(own_gradients)));
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

// The parameters of a program (core/program/parameters.h) during one training run: in the layouts that operations read, with gradients.
//
// A parameter that is the plain concatenation of its tensors shares their memory. Any other parameter (transposed, interleaved, tiled,
// softmaxed, changed by LoRA, or with a tensor of two parameters) has its own memory: Pack() fills it from the tensors, Gather() adds its
// gradient to theirs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/float_buffer.h"
#include "core/base/status.h"
#include "core/train/memory/tape.h"
#include "core/train/memory/weight_tensors.h"

namespace peruse::train {

class PackedCopies {
 public:
  // Allocates all memory, and sets the gradients of the tensors that are trained. `weight_tensors` must outlive the object. Errors: kOutOfMemory.
  static Result<std::unique_ptr<PackedCopies>> Create(WeightTensors& weight_tensors, std::shared_ptr<Workers> workers);

  const PackedParameters& parameters() const { return packed_; }
  Workers& workers() const { return *workers_; }
  const std::shared_ptr<Workers>& shared_workers() const { return workers_; }
  int64_t bytes() const;

  void Pack();
  void Gather();
  void ZeroGradients();

 private:
  // The tensors of one parameter.
  struct Group {
    ParameterId parameter;
    std::span<const WeightTensors::Alias> aliases;
    bool trained = false;  // whether the parameter has a gradient
    bool direct = false;   // whether it shares its tensors' memory
    bool again = false;    // whether one of its tensors shares its gradient with an earlier parameter
    float* values = nullptr;
    float* gradient = nullptr;
  };

  PackedCopies(WeightTensors& weight_tensors, std::shared_ptr<Workers> workers);
  void GroupAliases();
  bool LiesDirect(std::span<const WeightTensors::Alias> aliases, int64_t size) const;
  Status AddZeros();
  Status AddMemory();
  void Point();
  void Set(Group& group, float* values, float* gradient);
  int64_t SizeOf(ParameterId id) const;
  // Returns the values of a tensor including its LoRA update, valid until the next call.
  const float* Effective(size_t weight_tensor);
  void GatherGroup(const Group& group);
  void GatherLora(const LoraPair& pair, float* gradient);

  WeightTensors& weight_tensors_;
  std::shared_ptr<Workers> workers_;
  PackedParameters packed_;
  std::vector<Group> groups_;
  std::vector<bool> shared_;  // for each tensor: whether a parameter uses its values and its gradient as its own
  FloatBuffer gradients_, packed_values_, packed_gradients_, changed_, zeros_;
};

}  // namespace peruse::train

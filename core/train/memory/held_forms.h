// The parameters of a program (core/program/parameters.h) during one training run: in the layouts that operations read, with gradients.
//
// A parameter that is the plain concatenation of its tensors shares their memory. Any other parameter (transposed, interleaved, tiled,
// softmaxed, changed by LoRA, or with a tensor of two parameters) has its own memory: Hold() fills it from the tensors, Gather() adds its
// gradient to theirs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/float_buffer.h"
#include "core/base/status.h"
#include "core/train/memory/masters.h"
#include "core/train/memory/tape.h"

namespace peruse::train {

class HeldForms {
 public:
  // Allocates all memory, and sets the gradients of the masters that are trained. `masters` must outlive the object. Errors: kOutOfMemory.
  static Result<std::unique_ptr<HeldForms>> Create(Masters& masters, std::shared_ptr<Workers> workers);

  const HeldParameters& parameters() const { return held_; }
  Workers& workers() const { return *workers_; }
  const std::shared_ptr<Workers>& shared_workers() const { return workers_; }
  int64_t bytes() const;

  void Hold();
  void Gather();
  void ZeroGradients();

 private:
  // The tensors of one parameter.
  struct Group {
    ParameterId parameter;
    std::span<const Masters::Place> places;
    bool trained = false;  // whether the parameter has a gradient
    bool direct = false;   // whether it shares its tensors' memory
    bool again = false;    // whether one of its tensors shares its gradient with an earlier parameter
    float* values = nullptr;
    float* gradient = nullptr;
  };

  HeldForms(Masters& masters, std::shared_ptr<Workers> workers);
  void GroupPlaces();
  bool LiesDirect(std::span<const Masters::Place> places, int64_t size) const;
  Status AddZeros();
  Status AddMemory();
  void Point();
  void Set(Group& group, float* values, float* gradient);
  int64_t SizeOf(ParameterId id) const;
  // Returns the values of a master including its LoRA update, valid until the next call.
  const float* Effective(size_t master);
  void GatherGroup(const Group& group);
  void GatherLora(const LoraPair& pair, float* gradient);

  Masters& masters_;
  std::shared_ptr<Workers> workers_;
  HeldParameters held_;
  std::vector<Group> groups_;
  std::vector<bool> shared_;  // for each master: whether a parameter uses its values and its gradient as its own
  FloatBuffer gradients_, held_values_, held_gradients_, changed_, zeros_;
};

}  // namespace peruse::train

// The tensors of a checkpoint in training ("masters"): float32 values under their own names, their gradients, and the parameters of a
// program that they fill (core/program/parameters.h).
//
// A parameter that is the plain concatenation of its tensors shares their memory. Any other parameter (transposed, interleaved, tiled,
// softmaxed, changed by LoRA, or with a tensor of two parameters) has its own memory: Hold() fills it from the tensors, Gather() adds its
// gradient to theirs.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/float_buffer.h"
#include "core/base/status.h"
#include "core/program/parameters.h"
#include "core/train/tape.h"
#include "core/weights/checkpoint.h"
#include "core/weights/tensor_names.h"

namespace peruse::train {

struct Master {
  std::string name;       // name in the program
  std::string file_name;  // name in the checkpoint, or empty
  std::string head;       // the head that owns it; empty for the encoder
  std::vector<int64_t> shape;
  int64_t size = 0;
  bool norm = false;   // belongs to a layer norm
  bool fresh = false;  // not in the checkpoint, or with another shape there, so initialised at random
  bool trained = false;
  bool shared = false;   // whether a parameter uses its values and its gradient as its own
  bool follows = false;  // a copy of another master (generator.h): has a gradient, but no optimiser changes it
  float* values = nullptr;
  float* gradient = nullptr;  // null unless it is trained

  bool updates() const { return trained && !follows; }
  // whether weight decay applies, as in transformers' Trainer
  bool decays() const { return !norm && name.find("bias") == std::string::npos; }
};

inline bool IsOfLinear(ParameterId id, int32_t linear) {
  return (id.kind == ParameterId::Kind::kWeight || id.kind == ParameterId::Kind::kBias) && id.number == linear;
}

std::optional<int32_t> LayerNumber(const std::string& name);

// A low-rank update of a linear layer's weight [out, in]: W + scale * B A (Hu et al., 2021).
struct LoraPair {
  size_t of;    // number of the master that it changes
  size_t a, b;  // numbers of the masters A [rank, in] and B [out, rank]
  float scale;
};

class Masters : public CheckpointSink {
 public:
  // `parameters` must outlive the object. `prefixes` are Family::prefixes().
  Masters(const Program& program, const Parameters& parameters, std::vector<std::string> prefixes);

  Status Begin(const TensorNames& names, std::span<const NeededTensor> tensors) override;
  // A checkpoint may lack a head, or have one for another number of labels: it is then initialised at random.
  bool IsOptional(const NeededTensor& tensor) const override { return !tensor.head.empty(); }
  Result<std::unique_ptr<TensorWriter>> Open(const NeededTensor& tensor, const TensorInfo& stored,
                                             Content content) override;
  Status BeginFresh();
  // After the checkpoint: moves row order[i] of this linear layer's tensors to row i.
  void PermuteRows(int32_t linear, std::span<const int32_t> order);

  // Callers choose the tensors to train, before Allocate.
  std::vector<Master>& tensors() { return masters_; }
  const std::vector<Master>& tensors() const { return masters_; }
  void AddLora(size_t of, int32_t rank, float alpha);
  const std::vector<LoraPair>& lora() const { return lora_; }
  const TensorNames& names() const { return names_; }
  // Returns the values of a master including its LoRA update, valid until the next call.
  const float* Effective(size_t number);

  // Adds a constant row that no file contains, and returns its number.
  int32_t AddFixedRow(int32_t cols, float value);

  // Copies the values. RestoreStart restores them and removes LoRA pairs, to train again from the same start. Errors: kOutOfMemory.
  Status KeepStart();
  void RestoreStart();

  // Allocates gradients and the layouts that kernels read. Must be called once per training run. If `workers` is null, uses one thread.
  Status Allocate(std::shared_ptr<Workers> workers = nullptr);
  Workers& workers() const { return *workers_; }
  const std::shared_ptr<Workers>& shared_workers() const { return workers_; }
  const HeldParameters& held() const { return held_; }
  int64_t bytes() const;

  void Hold();
  void Gather();
  void ZeroGradients();
  // Initialises tensors of heads that the checkpoint lacks: normally distributed with this deviation; biases zero, norms one; LoRA's A
  // uniform, B zero.
  void Initialise(uint64_t seed, float deviation);
  // Replaces randomly initialised square weights of the head by the identity, so that the next layer receives the encoder's output.
  void PassThrough();

 private:
  struct Place {
    const ParameterTensor* tensor;
    size_t master;
    bool direct = false;  // whether the parameter shares the master's memory
  };

  // The places of one parameter.
  struct Group {
    ParameterId parameter;
    std::span<Place> places;
    bool trained = false;  // whether the parameter has a gradient
    bool direct = false;   // whether it shares its tensors' memory
    bool again = false;    // whether one of its tensors shares its gradient with an earlier parameter
  };

  void CollectMasters();
  Status AllocateValues();
  Status AllocateLora();
  Status AllocateZeros();
  Status AllocateHeld();
  std::vector<Group> GroupPlaces();
  bool LiesDirect(std::span<const Place> places, int64_t size) const;
  int64_t SizeOf(ParameterId id) const { return parameters_.rows(id) * parameters_.cols(id); }
  void SetHeld(ParameterId id, float* values, float* gradient);
  float* Held(ParameterId id, bool gradient) const;
  const LoraPair* PairOf(size_t master) const;
  void GatherLora(const LoraPair& pair, float* gradient);

  const Parameters& parameters_;
  TensorNames names_;
  std::vector<Master> masters_;
  std::vector<Place> places_;
  std::vector<LoraPair> lora_;
  HeldParameters held_;
  std::vector<bool> norms_;  // for each constant: whether it belongs to a layer norm
  FloatBuffer start_, values_, gradients_, held_values_, held_gradients_, changed_, lora_values_, zeros_;
  std::deque<std::vector<float>> fixed_;
  std::shared_ptr<Workers> workers_;
  std::map<std::string, size_t> by_name_;  // name -> number of the master
};

}  // namespace peruse::train

// The tensors of a checkpoint in training: float32 masters under their own names, their gradients, and the layouts that a program reads
// (core/program/parameters.h says which parameter each tensor fills).
//
// A parameter that is the unchanged concatenation of its tensors shares their memory. Other parameters (transposed, interleaved, tiled,
// softmaxed, changed by LoRA, or with a tensor of two parameters) have their own memory: Hold() fills it from the tensors, Gather() adds
// its gradients to theirs.
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
  std::string name;       // in the program
  std::string file_name;  // in the checkpoint, or empty
  std::string head;       // the head that owns it; empty for the encoder
  std::vector<int64_t> shape;
  int64_t size = 0;
  bool norm = false;   // belongs to a layer norm
  bool fresh = false;  // was not in the checkpoint, or had another shape there: initialised at random
  bool trained = false;
  bool follows = false;  // copies another master (generator.h): it has a gradient, but no optimiser changes it
  float* values = nullptr;
  float* gradient = nullptr;  // if it is trained

  bool updates() const { return trained && !follows; }
  bool decays() const { return !norm && name.find("bias") == std::string::npos; }  // as in transformers' Trainer
};

// Whether the parameter is the weight or bias of the linear layer.
inline bool IsOfLinear(ParameterId id, int32_t linear) {
  return (id.kind == ParameterId::Kind::kWeight || id.kind == ParameterId::Kind::kBias) && id.number == linear;
}

// Returns the number after "layer." in a tensor's name, if any.
std::optional<int32_t> LayerNumber(const std::string& name);

// A low-rank update of a linear layer's weight [out, in]: W + scale * B A (Hu et al., 2021).
struct LoraPair {
  size_t of;    // the changed master
  size_t a, b;  // masters [rank, in], [out, rank]
  float scale;
};

class Masters : public CheckpointSink {
 public:
  // `parameters` outlives this. `prefixes` are Family::prefixes().
  Masters(const Program& program, const Parameters& parameters, std::vector<std::string> prefixes);

  // ---- The checkpoint -----------------------------------------------------------------------------------------------
  Status Begin(const TensorNames& names, std::span<const NeededTensor> tensors) override;
  // A head that the checkpoint lacks, or has with another number of labels, is initialised at random.
  bool IsOptional(const NeededTensor& tensor) const override { return !tensor.head.empty(); }
  Result<std::unique_ptr<TensorWriter>> Open(const NeededTensor& tensor, const TensorInfo& stored,
                                             Content content) override;
  // Replaces a checkpoint: all masters are fresh.
  Status BeginFresh();
  // After the checkpoint: moves row order[i] of each tensor of this linear layer to row i.
  void PermuteRows(int32_t linear, std::span<const int32_t> order);

  // ---- Choice of trained masters, before Allocate -----------------------------------------------------------------------
  std::vector<Master>& tensors() { return masters_; }
  const std::vector<Master>& tensors() const { return masters_; }
  // Adds LoRA masters for the weight with this number.
  void AddLora(size_t of, int32_t rank, float alpha);
  const std::vector<LoraPair>& lora() const { return lora_; }
  const TensorNames& names() const { return names_; }
  // Returns a master's values including its LoRA update, valid until the next call.
  const float* Effective(size_t number);

  // Adds a constant row that is not in any file, and returns its number.
  int32_t AddFixedRow(int32_t cols, float value);

  // Copies the values. RestoreStart restores them and removes LoRA pairs, for another training with the same start. Errors: kOutOfMemory.
  Status KeepStart();
  void RestoreStart();

  // Allocates gradients and the layouts that kernels read. Call once per training. `workers` are the compute threads; null creates one
  // worker.
  Status Allocate(std::shared_ptr<Workers> workers = nullptr);
  Workers& workers() const { return *workers_; }
  const std::shared_ptr<Workers>& shared_workers() const { return workers_; }
  const HeldParameters& held() const { return held_; }
  int64_t bytes() const;

  void Hold();
  void Gather();
  void ZeroGradients();
  // Initialises tensors of heads that the checkpoint lacks: normal with this deviation; biases zero, norms one; LoRA's A uniform, B zero.
  void Initialise(uint64_t seed, float deviation);
  // Sets fresh square weights of the head to the identity, so that the next layer reads the encoder's output.
  void PassThrough();

 private:
  struct Place {
    const ParameterTensor* tensor;
    size_t master;
    bool direct = false;  // the parameter shares the master's memory
  };

  void CollectMasters();
  Status AllocateValues();
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
  std::vector<bool> norms_;  // by constant: belongs to a layer norm
  FloatBuffer start_, values_, gradients_, held_values_, held_gradients_, changed_, lora_values_, zeros_;
  std::deque<std::vector<float>> fixed_;
  std::shared_ptr<Workers> workers_;
  std::map<std::string, size_t> by_name_;  // masters
};

}  // namespace peruse::train

// The tensors of a checkpoint in training: float32 masters under their own names, their gradients, and the forms in which a
// program holds them (core/program/parameters.h says which parameter each tensor fills).
//
// Where a parameter is its tensors as they are, one below the other, it lies where they lie. Elsewhere (transposed, interleaved, tiled,
// softmaxed, changed by LoRA, or a tensor of two parameters) it has memory of its own: Hold() fills it from the tensors, Gather() brings
// its gradients back to theirs.
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
  std::string file_name;  // in the checkpoint; empty: it has none
  std::string head;       // the head that it belongs to; empty: the encoder
  std::vector<int64_t> shape;
  int64_t size = 0;
  bool norm = false;   // of a layer norm
  bool fresh = false;  // was not in the checkpoint, or had another shape there: starts at random
  bool trained = false;
  bool follows = false;  // another's values (generator.h): it has a gradient, and no optimiser changes it
  float* values = nullptr;
  float* gradient = nullptr;  // where it is trained

  bool updates() const { return trained && !follows; }
  bool decays() const { return !norm && name.find("bias") == std::string::npos; }  // as transformers' Trainer
};

// Whether it is the weight or the bias of the linear.
inline bool IsOfLinear(ParameterId id, int32_t linear) {
  return (id.kind == ParameterId::Kind::kWeight || id.kind == ParameterId::Kind::kBias) && id.number == linear;
}

// The number behind "layer." in a tensor's name; nothing where there is none.
std::optional<int32_t> LayerNumber(const std::string& name);

// A low-rank change of a linear's weight [out, in]: it counts as W + scale * B A (Hu et al., 2021).
struct LoraPair {
  size_t of;    // the master that it changes
  size_t a, b;  // masters [rank, in], [out, rank]
  float scale;
};

class Masters : public CheckpointSink {
 public:
  // `parameters` outlives this. prefixes: Family::prefixes().
  Masters(const Program& program, const Parameters& parameters, std::vector<std::string> prefixes);

  // ---- The checkpoint -----------------------------------------------------------------------------------------------
  Status Begin(const TensorNames& names, std::span<const NeededTensor> tensors) override;
  // A head that the checkpoint does not have, or has for another number of labels, starts at random.
  bool IsOptional(const NeededTensor& tensor) const override { return !tensor.head.empty(); }
  Result<std::unique_ptr<TensorWriter>> Open(const NeededTensor& tensor, const TensorInfo& stored,
                                             Content content) override;
  // In place of a checkpoint: all masters are fresh.
  Status BeginFresh();
  // After the checkpoint: moves row order[i] of each tensor of this linear to row i.
  void PermuteRows(int32_t linear, std::span<const int32_t> order);

  // ---- What is trained, before Allocate -----------------------------------------------------------------------------
  std::vector<Master>& tensors() { return masters_; }
  const std::vector<Master>& tensors() const { return masters_; }
  // Adds the pair of masters for the weight of this number.
  void AddLora(size_t of, int32_t rank, float alpha);
  const std::vector<LoraPair>& lora() const { return lora_; }
  const TensorNames& names() const { return names_; }
  // A master's values with its LoRA pair's change, until the next call.
  const float* Effective(size_t number);

  // A row of a number that no file holds, as a constant of programs: its number.
  int32_t AddFixedRow(int32_t cols, float value);

  // Copies the values, for RestoreStart to bring back, which also forgets LoRA's pairs: another training of the same start. kOutOfMemory.
  Status KeepStart();
  void RestoreStart();

  // Memory for gradients and for the forms that kernels read. Once a training. `workers`: who computes with them; none: one of its own.
  Status Allocate(std::shared_ptr<Workers> workers = nullptr);
  Workers& workers() const { return *workers_; }
  const std::shared_ptr<Workers>& shared_workers() const { return workers_; }
  const HeldParameters& held() const { return held_; }
  int64_t bytes() const;

  void Hold();
  void Gather();
  void ZeroGradients();
  // Tensors of heads that the checkpoint has not: normal with this deviation; biases zero, norms one; LoRA's A uniform, B zero.
  void Initialise(uint64_t seed, float deviation);
  // Square weights of the head that are fresh become the identity: what goes in comes out, to be read by the layer behind.
  void PassThrough();

 private:
  struct Place {
    const ParameterTensor* tensor;
    size_t master;
    bool direct = false;  // the parameter lies where the master lies
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
  std::vector<bool> norms_;  // by constant: whether it belongs to a layer norm
  FloatBuffer start_, values_, gradients_, held_values_, held_gradients_, changed_, lora_values_, zeros_;
  std::deque<std::vector<float>> fixed_;
  std::shared_ptr<Workers> workers_;
  std::map<std::string, size_t> by_name_;  // masters
};

}  // namespace peruse::train

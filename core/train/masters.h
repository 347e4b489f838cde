// The tensors of a checkpoint in training: float32 masters under their own names, their gradients, and the forms in which a
// program holds them (core/program/parameters.h says which piece of which parameter each tensor is).
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
#include "core/weights/float_reader.h"
#include "core/weights/tensor_info.h"
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
  bool renewed = false;  // fresh although the checkpoint has it
  bool follows = false;  // another's values (generator.h): it has a gradient, and no optimiser changes it
  float* values = nullptr;
  float* gradient = nullptr;  // where it is trained

  bool updates() const { return trained && !follows; }
  bool decays() const { return !norm && name.find("bias") == std::string::npos; }  // as transformers' Trainer
};

// The number behind "layer." in a tensor's name; nothing where there is none.
std::optional<int32_t> LayerNumber(const std::string& name);

// A low-rank change of a linear's weight [out, in]: it counts as W + scale * B A (Hu et al., 2021).
struct LoraPair {
  size_t of;    // the master that it changes
  size_t a, b;  // masters [rank, in], [out, rank]
  float scale;
};

class Masters : public TensorVisitor {
 public:
  // `parameters` outlives this. prefixes: Family::prefixes().
  Masters(const Program& program, const Parameters& parameters, std::vector<std::string> prefixes);

  // ---- The checkpoint -----------------------------------------------------------------------------------------------
  // Of one in several files: the names of all tensors, before the first. Errors: kMalformedFile, kMissingTensor.
  Status SetNames(const std::vector<std::string_view>& names);
  Status OnHeader(std::span<const TensorInfo> tensors) override;
  Status OnData(size_t index, std::span<const uint8_t> bytes) override;
  // After the last file: kMissingTensor where an index named a tensor that no file has.
  Status CheckComplete() const;
  // In place of a checkpoint: all masters are fresh.
  Status BeginFresh();
  // Before the checkpoint: ignores its tensors of this linear, which start at random (a classifier of other labels).
  void Renew(int32_t linear) { renewed_ = linear; }
  // After the checkpoint: moves row order[i] of each tensor of this linear to row i.
  void PermuteRows(int32_t linear, std::span<const int32_t> order);
  bool Wants(size_t index) const override { return targets_[index] >= 0; }

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
    const Piece* piece;
    size_t master;
    bool direct = false;  // the parameter lies where the master lies
  };

  void CollectMasters();
  Status AllocateValues();
  bool LiesDirect(std::span<const Place> places, int64_t size) const;
  int64_t PartSize(const Piece& piece) const;
  void SetHeld(const Piece& piece, float* values, float* gradient);
  float* Held(const Piece& piece, bool gradient) const;
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
  int32_t renewed_ = -1;  // number of a linear, or -1

  // While a checkpoint is read.
  std::vector<int32_t> targets_;  // by tensor of the file: its master; -1: none
  std::vector<TensorInfo> infos_;
  size_t reading_ = static_cast<size_t>(-1);
  std::unique_ptr<FloatReader> reader_;
  std::map<std::string, size_t> by_name_;  // masters
};

}  // namespace peruse::train

// The tensors of a checkpoint in training: float32 values under their own names. Packed copies (packed_copies.h) give them to the
// program, and add their gradients.
#pragma once

#include <cstdint>
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
#include "core/program/program.h"
#include "core/weights/checkpoint.h"
#include "core/weights/tensor_names.h"

namespace peruse::train {

struct WeightTensor {
  std::string name;       // name in the program
  std::string file_name;  // name in the checkpoint, or empty
  std::string head;       // the head that owns it; empty for the encoder
  std::vector<int64_t> shape;
  int64_t size = 0;
  bool norm = false;   // belongs to a layer norm
  bool fresh = false;  // not in the checkpoint, or with another shape there, so initialised at random
  bool trained = false;
  bool follows = false;  // a copy of another tensor (generator.h): has a gradient, but no optimiser changes it
  float* values = nullptr;
  float* gradient = nullptr;  // null unless a training run changes it

  bool updates() const { return trained && !follows; }
  // whether weight decay applies, as in transformers' Trainer
  bool decays() const { return !norm && name.find("bias") == std::string::npos; }
};

inline bool IsOfLinear(ParameterId id, int32_t linear) {
  return (id.kind == ParameterId::Kind::kWeight || id.kind == ParameterId::Kind::kBias) && id.number == linear;
}

// Returns the number of the layer in a tensor's name, such as 3 for "encoder.layer.3.output.dense.weight" or "layers.3.attn.Wo.weight"; nullopt if
// the tensor belongs to no layer.
std::optional<int32_t> LayerNumber(const std::string& name);

// A low-rank update of a linear layer's weight [out, in]: W + scale * B A (Hu et al., 2021).
struct LoraPair {
  size_t of;    // number of the tensor that it changes
  size_t a, b;  // numbers of the tensors A [rank, in] and B [out, rank]
  float scale;
};

class WeightTensors : public CheckpointSink {
 public:
  // A tensor as part of a parameter. A tensor can be part of several.
  struct Alias {
    const ParameterTensor* tensor;
    size_t weight_tensor;
  };

  // `parameters` must outlive the object. `prefixes` are Family::prefixes().
  WeightTensors(const Program& program, const Parameters& parameters, std::vector<std::string> prefixes);

  Status Begin(const TensorNames& names, std::span<const NeededTensor> tensors) override;
  // A checkpoint may lack a head, or have one for another number of labels: it is then initialised at random.
  bool IsOptional(const NeededTensor& tensor) const override { return !tensor.head.empty(); }
  Result<std::unique_ptr<TensorWriter>> Open(const NeededTensor& tensor, const TensorInfo& stored,
                                             Content content) override;
  Status BeginFresh();
  // After the checkpoint: moves row order[i] of this linear layer's tensors to row i.
  void PermuteRows(int32_t linear, std::span<const int32_t> order);

  // Callers choose the tensors to train before they create packed copies.
  std::vector<WeightTensor>& tensors() { return weight_tensors_; }
  const std::vector<WeightTensor>& tensors() const { return weight_tensors_; }
  const Parameters& parameters() const { return parameters_; }
  // In the order of parameters and of rows within a parameter.
  std::span<const Alias> aliases() const { return aliases_; }
  const TensorNames& names() const { return names_; }

  // Errors: kOutOfMemory.
  Status AddLora(size_t of, int32_t rank, float alpha);
  const std::vector<LoraPair>& lora() const { return lora_; }
  // Returns nullptr if LoRA does not change the tensor.
  const LoraPair* PairOf(size_t weight_tensor) const;

  // Adds a constant row that no file contains, and returns its number among the program's constants.
  int32_t AddFixedRow(int32_t cols, float value);
  std::span<std::vector<float>> fixed_rows() { return fixed_; }

  // Copies the values. RestoreStart restores them and removes LoRA pairs, to train again from the same start. Errors: kOutOfMemory.
  Status KeepStart();
  void RestoreStart();
  int64_t bytes() const;

  // Initialises tensors of heads that the checkpoint lacks: normally distributed with this deviation; biases zero, norms one; LoRA's A
  // uniform, B zero.
  void Initialise(uint64_t seed, float deviation);
  // Replaces randomly initialised square weights of the head by the identity, so that the next layer receives the encoder's output.
  void PassThrough();

 private:
  void CollectTensors();
  Status AllocateValues();

  const Parameters& parameters_;
  TensorNames names_;
  std::vector<WeightTensor> weight_tensors_;
  std::vector<Alias> aliases_;
  std::vector<LoraPair> lora_;
  std::vector<bool> norms_;  // for each constant: whether it belongs to a layer norm
  FloatBuffer start_, values_;
  std::vector<FloatBuffer> lora_values_;  // of each pair
  std::vector<std::vector<float>> fixed_;
  std::map<std::string, size_t> by_name_;  // name -> number of the tensor
};

}  // namespace peruse::train

// LoRA adapters (Hu et al. 2021) in the layout of the library peft, merged into a checkpoint's weights while these are read:
// W + scale * B A, for every linear layer and embedding that the adapter changes.
//
//   LoraAdapter adapter;  adapter.ReadConfig(adapter_config_json);  adapter.Feed(chunk)...  adapter.Finish();
//   LoraMerger merger(adapter, prefixes, binder);  WeightsParser parser(merger);
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/weights/float_reader.h"
#include "core/weights/tensor_info.h"
#include "core/weights/weights_parser.h"

namespace peruse {

// What an adapter adds to a matrix [rows, cols]: scale * left right, with left [rows, rank] and right [rank, cols].
struct LoraUpdate {
  std::string name;  // of the matrix in the checkpoint, ".weight" included
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t rank = 0;
  double scale = 0;
  std::vector<float> left;
  std::vector<float> right;
};

// A tensor that the adapter brings along whole: of a head that was trained beside it, say.
struct LoraTensor {
  TensorInfo info;  // named as in the checkpoint
  std::vector<uint8_t> bytes;
};

class LoraAdapter : private TensorVisitor {
 public:
  LoraAdapter() : parser_(*this) {}

  // adapter_config.json. kUnsupported names the option that is not merged as plain LoRA is.
  Status ReadConfig(std::string_view json);
  // adapter_model.safetensors or adapter_model.bin. Errors: those of WeightsParser, and kUnsupported, kMalformedFile,
  // kShapeMismatch of tensors that make no sense.
  Status Feed(std::span<const uint8_t> chunk) { return parser_.Feed(chunk); }
  Status Finish();

  const std::vector<LoraUpdate>& updates() const { return updates_; }
  const std::vector<LoraTensor>& tensors() const { return tensors_; }

 private:
  // A factor of an update, as the file has it.
  struct Factor {
    std::string module;  // as the checkpoint calls it
    bool is_a;
    bool embedding;
    const LoraTensor* tensor;
  };

  Status OnHeader(std::span<const TensorInfo> tensors) override;
  Status OnData(size_t index, std::span<const uint8_t> bytes) override;
  Status MakeUpdate(const Factor& a, const Factor& b);
  double ScaleOf(const std::string& module, int64_t rank) const;

  double alpha_ = 0;
  bool rank_stabilized_ = false;
  std::vector<std::pair<std::string, double>> alpha_pattern_;
  WeightsParser parser_;
  std::vector<LoraTensor> read_;
  std::vector<LoraUpdate> updates_;
  std::vector<LoraTensor> tensors_;
};

class LoraMerger : public TensorVisitor {
 public:
  // `prefixes`: what may or may not stand before the names of encoder tensors. The others outlive this.
  LoraMerger(const LoraAdapter& adapter, std::vector<std::string> prefixes, TensorVisitor& next)
      : adapter_(adapter), prefixes_(std::move(prefixes)), next_(next) {}

  // For a sharded checkpoint, before its first header: the names of all tensors; gives them with those that the adapter adds.
  // kMissingTensor if the adapter changes a matrix that is not there.
  Result<std::vector<std::string>> SetNames(const std::vector<std::string>& names);

  Status OnHeader(std::span<const TensorInfo> tensors) override;
  Status OnData(size_t index, std::span<const uint8_t> bytes) override;
  bool Wants(size_t index) const override { return parts_[index].replaced == nullptr && next_.Wants(index); }

 private:
  // What becomes of a tensor: one of these, or it stays as it is.
  struct Part {
    const LoraUpdate* update = nullptr;
    const LoraTensor* replaced = nullptr;
  };

  std::string_view Bare(std::string_view name) const;
  bool Same(std::string_view one, std::string_view other) const { return Bare(one) == Bare(other); }
  Status Resolve(std::span<const std::string> names);
  Part PartOf(std::string_view name) const;
  Status CheckUpdate(const TensorInfo& tensor, const LoraUpdate& update) const;
  Status Merge(size_t index, int32_t row, std::span<const float> values);

  const LoraAdapter& adapter_;
  const std::vector<std::string> prefixes_;
  TensorVisitor& next_;

  bool resolved_ = false;
  std::vector<const LoraTensor*> added_;  // that the checkpoint has not; go with the first file

  // The file being read.
  std::vector<TensorInfo> tensors_;
  std::vector<Part> parts_;
  size_t reading_ = static_cast<size_t>(-1);
  std::unique_ptr<FloatReader> reader_;
  std::vector<float> merged_;
};

}  // namespace peruse

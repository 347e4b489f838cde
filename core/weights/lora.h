// Merges LoRA adapters (Hu et al., 2021), in peft's layout, into a checkpoint's weights while these are read: W + scale * B A for each
// linear layer and embedding that the adapter changes. DoRA (Liu et al., 2024) then scales each row of the sum to a learned length.
//
//   LoraAdapter adapter;  adapter.ReadConfig(adapter_config_json);  adapter.Feed(chunk)...  adapter.Finish();
//   LoraMerger merger(adapter, prefixes, binder);  WeightsParser parser(merger);
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/cpu/low_rank.h"
#include "core/program/parameters.h"
#include "core/text/regex/regex_program.h"
#include "core/weights/float_reader.h"
#include "core/weights/tensor_info.h"
#include "core/weights/weights_parser.h"

namespace peruse {

// An update of a matrix [rows, cols]: adds scale * left right, with left [rows, rank] and right [rank, cols]. With lora_bias also an update
// of a bias [rows]: adds scale * left, which then has one column.
struct LoraUpdate {
  std::string name;      // the checkpoint's tensor, including ".weight" or ".bias"
  bool is_bias = false;  // shape is [rows]
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t rank = 0;
  double scale = 0;
  std::vector<float> left;
  std::vector<float> right;
  std::vector<float> magnitude;  // DoRA: L2 norm of each row of the result; empty without DoRA

  std::vector<int64_t> shape() const { return is_bias ? std::vector<int64_t>{rows} : std::vector<int64_t>{rows, cols}; }
};

// A tensor that the adapter stores whole, for example of a head trained with it (modules_to_save).
struct LoraTensor {
  TensorInfo info;  // with the checkpoint's name
  std::vector<uint8_t> bytes;
  bool is_separate = false;  // saved as a module of its own (modules_to_save), which no other module shares
};

class LoraAdapter : private TensorVisitor {
 public:
  LoraAdapter() : parser_(*this) {}

  // Reads adapter_config.json. Errors: kUnsupported, with the option's name.
  Status ReadConfig(std::string_view json);
  // Reads adapter_model.safetensors or .bin. Errors: those of WeightsParser; kUnsupported, kMalformedFile, kShapeMismatch.
  Status Feed(std::span<const uint8_t> chunk) { return parser_.Feed(chunk); }
  Status Finish();

  const std::vector<LoraUpdate>& updates() const { return updates_; }
  const std::vector<LoraTensor>& tensors() const { return tensors_; }

 private:
  // An entry of alpha_pattern or rank_pattern: a regular expression for the end of a module's name, and the value of matching modules.
  struct ModulePattern {
    text::RegexProgram expression;
    double value;
  };
  struct Factors {
    bool embedding = false;
    LoraTensor* a = nullptr;
    LoraTensor* b = nullptr;
    LoraTensor* b_bias = nullptr;     // lora_bias
    LoraTensor* magnitude = nullptr;  // use_dora
  };

  Status OnHeader(std::span<const TensorInfo> tensors) override;
  Status OnData(size_t index, std::span<const uint8_t> bytes) override;
  static Status ReadPatterns(JsonValue json, std::string_view name, std::vector<ModulePattern>* patterns);
  static Result<double> Matching(const std::vector<ModulePattern>& patterns, std::string_view module, double otherwise);
  Status AddFactor(LoraTensor* tensor, std::map<std::string, Factors>* modules) const;
  Status TakeWhole();
  Status MakeUpdate(const std::string& module, const Factors& factors);
  Result<double> ScaleOf(std::string_view module, int64_t rank) const;

  double alpha_ = 0;
  std::optional<double> rank_;
  bool rank_stabilized_ = false;
  bool use_dora_ = false;
  bool lora_bias_ = false;
  std::vector<ModulePattern> alpha_patterns_, rank_patterns_;
  WeightsParser parser_;
  std::vector<LoraTensor> read_;
  std::vector<LoraUpdate> updates_;
  std::vector<LoraTensor> tensors_;
};

class LoraMerger : public TensorVisitor {
 public:
  // `prefixes` are optional prefixes of encoder tensors. `parameters`, which may be null, have the tensors with several names: a tensor of the
  // adapter replaces the checkpoint's under any of them. `pool`, which may be null, computes the merged rows. The arguments except `prefixes`
  // must outlive the merger.
  LoraMerger(const LoraAdapter& adapter, std::vector<std::string> prefixes, TensorVisitor& next,
             const Parameters* parameters = nullptr, const cpu::ThreadPool* pool = nullptr);

  // For a sharded checkpoint, before its first header: takes the names of all tensors, and returns them with those that the adapter adds.
  // Errors: kMissingTensor if the adapter changes a missing matrix.
  Result<std::vector<std::string>> SetNames(const std::vector<std::string>& names);

  Status OnHeader(std::span<const TensorInfo> tensors) override;
  Status OnData(size_t index, std::span<const uint8_t> bytes) override;
  bool Wants(size_t index) const override { return parts_[index].replaced == nullptr && next_.Wants(index); }

 private:
  // How the adapter changes a tensor: by a whole tensor, then by an update.
  struct Part {
    const LoraUpdate* update = nullptr;
    const LoraTensor* replaced = nullptr;
  };

  std::string_view Bare(std::string_view name) const;
  Status Resolve(std::span<const std::string> names);
  // Returns the checkpoint's other name of a tensor that it lacks under `name`; an empty text if it has none.
  std::string_view OtherName(std::string_view name, const std::set<std::string_view>& checkpoint) const;
  // Sends the values of a tensor that the adapter holds whole.
  Status SendWhole(size_t index, const LoraTensor& tensor);
  // Returns a reader of a tensor that the adapter updates. Errors: kOutOfMemory.
  Result<std::unique_ptr<FloatReader>> ReaderOf(size_t index, DType dtype);
  Status CheckUpdate(const TensorInfo& tensor, const LoraUpdate& update) const;
  Status Merge(size_t index, int32_t row, std::span<const float> values);

  const LoraAdapter& adapter_;
  const std::vector<std::string> prefixes_;
  TensorVisitor& next_;
  const Parameters* const parameters_;
  const cpu::ThreadPool* const pool_;

  bool resolved_ = false;
  std::map<std::string_view, Part> part_of_;  // indexed by name without prefix
  std::vector<const LoraTensor*> added_;      // tensors that the checkpoint lacks; sent after the first file's header

  std::vector<TensorInfo> tensors_;
  std::vector<Part> parts_;
  size_t reading_ = static_cast<size_t>(-1);
  std::unique_ptr<FloatReader> reader_;
  std::optional<cpu::LowRankSum> sum_;  // the update of the tensor that is read
  std::vector<float> merged_;
};

}  // namespace peruse

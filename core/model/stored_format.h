// A checkpoint stored in a weight format: which tensors are encoded, and the resulting config.json.
//
// A tensor is encoded if every program that the family can build from config.json (one for each head) reads its rows in the format.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/families/family.h"
#include "core/formats/weight_format.h"
#include "core/weights/tensor_info.h"

namespace peruse {

class StoredFormat {
 public:
  // Errors: those of ReadFamily; kUnsupported if the checkpoint is already quantised, or checkpoints cannot be stored in `precision`.
  static Result<StoredFormat> Create(std::string_view config_json, Precision precision);

  // config.json with a quantization_config.
  const std::string& config_json() const { return config_json_; }
  // Returns the format of each tensor of a file, nullptr for unchanged tensors. Errors: kMalformedFile if two names mean the same tensor.
  Result<std::vector<const WeightFormat*>> Choose(std::span<const TensorInfo> tensors) const;

 private:
  // A program's use of a tensor.
  struct Use {
    const WeightFormat* format = nullptr;  // null if a program reads floats
    std::vector<int64_t> shape;
  };

  void AddUses(const Family& family, ModelConfig config, Head head, Precision precision);

  std::string config_json_;
  std::vector<std::string> prefixes_;
  std::map<std::string, Use, std::less<>> uses_;  // by name, without the encoder's prefix
};

}  // namespace peruse

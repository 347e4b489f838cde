// Chooses the tensors of a checkpoint that a copy in another weight format encodes. A tensor is encoded if all programs that the family can
// build from config.json (one per head) read its rows in that format.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/formats/weight_format.h"
#include "core/program/parameters.h"
#include "core/weights/stored_rows.h"
#include "core/weights/tensor_info.h"

namespace peruse {

class StoredFormat {
 public:
  // Errors: those of ReadFamily; kUnsupported if the checkpoint is already quantised, or cannot be stored in `precision`.
  static Result<StoredFormat> Create(std::string_view config_json, Precision precision);

  const std::string& config_json() const { return config_json_; }
  // Whether a tensor of the checkpoint is only the weight of a linear layer.
  bool IsLayer(std::string_view name) const { return !LayerOf(name).empty(); }
  // Gives the linear layers with these tensors the format that narrow layers have (WeightFormat::linear_format). Line feeds separate `names`.
  void Widen(std::string_view names);
  // Returns the format of each tensor, nullptr for unchanged tensors. Errors: kMalformedFile if two names mean the same tensor.
  Result<std::vector<StoredRows>> Choose(std::span<const TensorInfo> tensors) const;

 private:
  struct Use {
    StoredRows rows;  // without a format if a program reads the tensor as floats
    std::vector<int64_t> shape;
    std::string layer;  // the name of the linear layer's first tensor; empty if token embeddings share the tensor
  };

  std::string_view LayerOf(std::string_view name) const;
  void AddUses(const Parameters& parameters, Precision precision);

  std::string config_json_;
  std::vector<std::string> prefixes_;
  std::map<std::string, Use, std::less<>> uses_;  // indexed by name, without the encoder's prefix
};

}  // namespace peruse

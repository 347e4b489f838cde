// Maps the names of a checkpoint's tensors to parameters: strips the encoder's prefix and modernises spelling.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/program/parameters.h"

namespace peruse {

class TensorNames {
 public:
  // `prefixes`: possible prefixes of encoder tensors, such as "convbert."; the first one that a checkpoint uses counts.
  explicit TensorNames(std::vector<std::string> prefixes) : prefixes_(std::move(prefixes)) {}

  // Takes all names of the checkpoint. Errors: kMalformedFile if two names mean the same tensor.
  Status Resolve(const std::vector<std::string_view>& names);

  bool Has(std::string_view name) const { return names_.contains(name); }
  // The name of the tensor in this checkpoint.
  const std::string& Of(const ParameterTensor& tensor) const;
  // Strips the wrapper's and the encoder's prefix, and modernises the names of a layer norm's parameters.
  std::string Normalise(std::string_view name) const;
  // The prefix of this checkpoint, or empty.
  const std::string& prefix() const { return prefix_; }
  const std::vector<std::string>& prefixes() const { return prefixes_; }

 private:
  // The name without the prefix of a wrapper of the whole model.
  std::string_view Unwrapped(std::string_view name) const;

  std::vector<std::string> prefixes_;
  std::string prefix_;
  std::string_view wrapper_;  // prefix of every name of this checkpoint, for example "module." of DataParallel
  std::set<std::string, std::less<>> names_;  // normalised
};

}  // namespace peruse

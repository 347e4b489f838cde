// The names of a checkpoint's tensors: without the encoder's prefix, with today's spelling, and which one a parameter uses.
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
  // `prefixes`: what may stand before the names of encoder tensors, such as "convbert."; the first that a checkpoint uses.
  explicit TensorNames(std::vector<std::string> prefixes) : prefixes_(std::move(prefixes)) {}

  // All names of the checkpoint. kMalformedFile where two mean the same.
  Status Resolve(const std::vector<std::string_view>& names);

  bool Has(std::string_view name) const { return names_.contains(name); }
  // The one of the tensor's names that this checkpoint uses.
  const std::string& Of(const ParameterTensor& tensor) const;
  // Without the wrapper's and the encoder's prefix, and with today's names for a layer norm's parameters.
  std::string Normalise(std::string_view name) const;
  // That this checkpoint uses; empty: none.
  const std::string& prefix() const { return prefix_; }
  const std::vector<std::string>& prefixes() const { return prefixes_; }

 private:
  // The name without what a wrapper of the whole model put before it.
  std::string_view Unwrapped(std::string_view name) const;

  std::vector<std::string> prefixes_;
  std::string prefix_;
  std::string_view wrapper_;  // before every name of this checkpoint: "module." of DataParallel, for example
  std::set<std::string, std::less<>> names_;  // normalised
};

}  // namespace peruse

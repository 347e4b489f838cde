// Maps tensor names of a checkpoint to parameters: strips the encoder's prefix, and replaces old spellings.
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
  // `prefixes` are possible prefixes of encoder tensors, such as "convbert."; the first prefix that a checkpoint uses counts.
  explicit TensorNames(std::vector<std::string> prefixes) : prefixes_(std::move(prefixes)) {}

  // Takes all names of the checkpoint. Errors: kMalformedFile if two names mean the same tensor.
  Status Resolve(const std::vector<std::string_view>& names);

  bool Has(std::string_view name) const { return names_.contains(name); }
  const std::string& Of(const ParameterTensor& tensor) const;
  // Strips the prefixes of wrapper and encoder, and replaces old names of a layer norm's parameters.
  std::string Normalise(std::string_view name) const;
  // Strips any of the prefixes. For names of an adapter, before the checkpoint's are known.
  std::string WithoutPrefix(const std::string& name) const;
  const std::string& prefix() const { return prefix_; }
  const std::vector<std::string>& prefixes() const { return prefixes_; }

 private:
  std::string_view Unwrapped(std::string_view name) const;

  std::vector<std::string> prefixes_;
  std::string prefix_;
  std::string_view wrapper_;  // prefix of all names in this checkpoint, for example "module." of DataParallel
  std::set<std::string, std::less<>> names_;  // without prefix, in their current spelling (Normalise)
};

}  // namespace peruse

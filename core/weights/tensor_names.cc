#include "core/weights/tensor_names.h"

#include <algorithm>

namespace peruse {

const std::string& TensorNames::Of(const ParameterTensor& tensor) const {
  const std::vector<std::string>& signs = tensor.if_has.empty() ? tensor.names : tensor.if_has;
  const auto found = std::find_if(signs.begin(), signs.end(), [this](const std::string& name) { return Has(name); });
  return tensor.names[found == signs.end() ? 0 : static_cast<size_t>(found - signs.begin())];
}

std::string_view TensorNames::Unwrapped(std::string_view name) const {
  return name.starts_with(wrapper_) ? name.substr(wrapper_.size()) : name;
}

std::string TensorNames::WithoutPrefix(const std::string& name) const {
  for (const std::string& prefix : prefixes_) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

std::string TensorNames::Normalise(std::string_view name) const {
  name = Unwrapped(name);
  if (!prefix_.empty() && name.starts_with(prefix_)) name.remove_prefix(prefix_.size());
  std::string result(name);
  constexpr std::string_view kGamma = "LayerNorm.gamma";
  constexpr std::string_view kBeta = "LayerNorm.beta";
  if (result.ends_with(kGamma)) return result.replace(result.size() - 5, 5, "weight");
  if (result.ends_with(kBeta)) return result.replace(result.size() - 4, 4, "bias");
  return result;
}

Status TensorNames::Resolve(const std::vector<std::string_view>& names) {
  for (const std::string_view wrapper :
       {std::string_view("module."), std::string_view("_orig_mod."), std::string_view("model.")}) {
    const auto has = [wrapper](std::string_view name) { return name.starts_with(wrapper); };
    // Not a wrapper's prefix: it is the family's own.
    if (std::any_of(prefixes_.begin(), prefixes_.end(), has)) continue;
    if (!names.empty() && std::all_of(names.begin(), names.end(), has)) wrapper_ = wrapper;
  }
  const auto used = [&](const std::string& prefix) {
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view name) { return Unwrapped(name).starts_with(prefix); });
  };
  const auto found = std::find_if(prefixes_.begin(), prefixes_.end(), used);
  if (found != prefixes_.end()) prefix_ = *found;
  for (const std::string_view name : names) {
    if (!names_.insert(Normalise(name)).second) {
      return MalformedFile("two tensors of the checkpoint have the name \"" + Normalise(name) +
                           "\" without their prefixes");
    }
  }
  return OkStatus();
}

}  // namespace peruse

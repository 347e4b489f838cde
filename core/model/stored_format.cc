#include "core/model/stored_format.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/json.h"
#include "core/families/add_head.h"
#include "core/families/quantization.h"
#include "core/weights/float_reader.h"
#include "core/weights/parameter_writer.h"
#include "core/weights/tensor_names.h"

namespace peruse {
namespace {

// The number of rows may differ if the configuration leaves the size of the vocabulary to the tokenizer.
bool IsOfShape(const TensorInfo& tensor, std::span<const int64_t> shape) {
  if (shape.empty() || std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end()) return false;
  return tensor.shape.size() == shape.size() && std::equal(shape.begin() + 1, shape.end(), tensor.shape.begin() + 1);
}

}  // namespace

Result<StoredFormat> StoredFormat::Create(std::string_view config_json, Precision precision) {
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(config_json, "config.json"));
  if (document.root().FindMember("quantization_config").exists()) {
    return Unsupported("config.json has a quantization_config: the checkpoint is quantised already");
  }
  PERUSE_ASSIGN_OR_RETURN(ConfiguredFamily family, ReadFamily(config_json));
  StoredFormat result;
  PERUSE_ASSIGN_OR_RETURN(result.config_json_, WithQuantization(config_json, precision));
  result.prefixes_ = family.family->prefixes();
  family.config.vocab_size = std::max(family.config.vocab_size, 0);
  for (const Parameters& parameters : ParametersOfHeads(*family.family, family.config, precision)) {
    result.AddUses(parameters, precision);
  }
  return result;
}

// Names of the checkpoint may have prefixes.
std::string_view StoredFormat::LayerOf(std::string_view name) const {
  for (const auto& [own, use] : uses_) {
    if (name == own || (name.ends_with(own) && name[name.size() - own.size() - 1] == '.')) return use.layer;
  }
  return {};
}

void StoredFormat::Widen(std::string_view names) {
  std::set<std::string, std::less<>> layers;
  for (size_t end = 0; !names.empty(); names.remove_prefix(std::min(end + 1, names.size()))) {
    end = std::min(names.find('\n'), names.size());
    layers.emplace(LayerOf(names.substr(0, end)));
  }
  layers.erase("");
  for (auto& [name, use] : uses_) {
    const WeightFormat*& format = use.rows.format;
    if (format != nullptr && layers.contains(use.layer)) format = &format->linear_format();
  }
}

void StoredFormat::AddUses(const Parameters& parameters, Precision precision) {
  std::vector<std::string> layers(parameters.linears.size());
  for (const ParameterTensor& tensor : parameters.tensors) {
    const WeightFormat* const format = RowFormat(parameters, tensor, precision);
    const bool encoded = format != nullptr && format->file_type().has_value();
    std::string layer;
    if (tensor.parameter.kind == ParameterId::Kind::kWeight) {
      std::string& first = layers[static_cast<size_t>(tensor.parameter.number)];
      if (first.empty()) first = tensor.names[0];
      layer = first;
    }
    for (const std::string& name : tensor.names) {
      const StoredRows rows = {encoded ? format : nullptr, RowsTransposed(parameters, tensor)};
      Use& use = uses_.try_emplace(name, Use{rows, tensor.shape, layer}).first->second;
      if (!encoded || use.rows.in != rows.in) use.rows.format = nullptr;
      // Linear layers that share a table's rows read them in its format.
      if (tensor.parameter.kind != ParameterId::Kind::kTable) continue;
      if (use.rows.format != nullptr) use.rows.format = format;
      use.layer.clear();
    }
  }
}

Result<std::vector<StoredRows>> StoredFormat::Choose(std::span<const TensorInfo> tensors) const {
  TensorNames names(prefixes_);
  std::vector<std::string_view> written;
  for (const TensorInfo& tensor : tensors) written.push_back(tensor.name);
  PERUSE_RETURN_IF_ERROR(names.Resolve(written));
  std::vector<StoredRows> stored;
  for (const TensorInfo& tensor : tensors) {
    const auto use = uses_.find(names.Normalise(tensor.name));
    const bool fits = use != uses_.end() && tensor.same_as.empty() && tensor.dtype && IsFloatDType(*tensor.dtype) &&
                      IsOfShape(tensor, use->second.shape);
    stored.push_back(fits ? use->second.rows : StoredRows());
  }
  return stored;
}

}  // namespace peruse

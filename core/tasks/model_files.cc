#include "core/tasks/model_files.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/memory.h"
#include "core/weights/checkpoint.h"
#include "core/weights/float_reader.h"

namespace peruse {
namespace {

Parameters ParametersOf(const std::vector<ModuleTensor>& tensors) {
  Parameters parameters;
  for (const ModuleTensor& tensor : tensors) {
    const ParameterId id = {ParameterId::Kind::kConstant, static_cast<int32_t>(parameters.constants.size())};
    const auto cols = static_cast<int32_t>(tensor.shape.back());
    parameters.constants.push_back({tensor.shape.size() > 1 ? static_cast<int32_t>(tensor.shape[0]) : 1, cols});
    std::vector<std::string> names = {tensor.name};
    if (!tensor.other_name.empty()) names.push_back(tensor.other_name);
    parameters.tensors.push_back({.parameter = id, .names = std::move(names), .shape = tensor.shape});
  }
  return parameters;
}

class FloatCopier : public TensorWriter {
 public:
  FloatCopier(DType type, std::vector<float>* values)
      : reader_(type, std::ssize(*values), 1, [values](int32_t first, std::span<const float> floats) {
          std::copy(floats.begin(), floats.end(), values->begin() + first);
          return OkStatus();
        }) {}
  Status Feed(std::span<const uint8_t> bytes) override { return reader_.Feed(bytes); }

 private:
  FloatReader reader_;
};

class FloatSink : public CheckpointSink {
 public:
  explicit FloatSink(const std::vector<ModuleTensor>& tensors) : tensors_(tensors) {}

  Result<std::unique_ptr<TensorWriter>> Open(const NeededTensor& tensor, const TensorInfo& stored, Content) override {
    std::vector<float>* const values = tensors_[tensor.uses[0]].values;
    values->resize(static_cast<size_t>(ElementCount(stored.shape)));
    return std::unique_ptr<TensorWriter>(std::make_unique<FloatCopier>(*stored.dtype, values));
  }

 private:
  const std::vector<ModuleTensor>& tensors_;
};

}  // namespace

Status ReadModuleWeights(const ReadModelFile& read, const std::string& folder,
                         const std::vector<ModuleTensor>& tensors) {
  for (const char* name : {"/model.safetensors", "/pytorch_model.bin", ""}) {
    const std::optional<std::string_view> file = read(folder + name);
    if (!file) continue;
    PERUSE_RETURN_IF_ERROR(EnsureMemory(SaturatingMultiply(4, file->size()), folder));
    FloatSink sink(tensors);
    const Parameters parameters = ParametersOf(tensors);
    Checkpoint checkpoint(parameters, {}, sink);
    Status status = checkpoint.Feed({reinterpret_cast<const uint8_t*>(file->data()), file->size()});
    if (status.ok()) status = checkpoint.Finish();
    return status.ok() ? status : Status(status.code(), folder + ": " + std::string(status.message()));
  }
  return Status(StatusCode::kNotFound, folder + " has neither model.safetensors nor pytorch_model.bin");
}

}  // namespace peruse

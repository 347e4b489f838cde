#include "core/weights/pytorch/state_dict.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace peruse {
namespace {

using Kind = PickleValue::Kind;

// Limits the bytes of all tensors to a multiple of the bytes of all storages. Two names for one matrix are usual, but an expanded tensor
// (stride 0) can claim far more bytes than the file has.
constexpr uint64_t kMaxRepetition = 4;
constexpr uint64_t kAlwaysAllowedBytes = uint64_t{1} << 20;

Status BadTensor(const std::string& name, const std::string& what) {
  return MalformedFile("PyTorch file: tensor \"" + name + "\" " + what);
}

bool HasTensors(const Pickle& pickle, const PickleValue& value) {
  if (!value.is(Kind::kDict)) return false;
  const std::vector<Pickle::Entry>& entries = pickle.Dict(value);
  return std::any_of(entries.begin(), entries.end(), [](const Pickle::Entry& entry) {
    return entry.first.is(Kind::kString) && entry.second.is(Kind::kTensor);
  });
}

// Finds the state dict: the root, or an entry of the root with a name that training scripts use.
std::optional<PickleValue> FindStateDict(const Pickle& pickle) {
  const PickleValue& root = pickle.root();
  if (HasTensors(pickle, root)) return root;
  if (!root.is(Kind::kDict)) return std::nullopt;
  for (const std::string_view name : {"state_dict", "model_state_dict", "model", "module"}) {
    for (const auto& [key, value] : pickle.Dict(root)) {
      if (key.is(Kind::kString) && pickle.String(key) == name && HasTensors(pickle, value)) return value;
    }
  }
  return std::nullopt;
}

// Returns the number of elements from a tensor's first to its last; nullopt on overflow.
std::optional<uint64_t> Extent(const PickleTensor& tensor) {
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  uint64_t extent = 1;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    const uint64_t steps = static_cast<uint64_t>(tensor.shape[i]) - 1;
    const uint64_t stride = static_cast<uint64_t>(tensor.strides[i]);
    if (steps != 0 && stride > (kMost - extent) / steps) return std::nullopt;
    extent += steps * stride;
  }
  return extent;
}

bool IsContiguous(const PickleTensor& tensor) {
  int64_t expected = 1;
  for (size_t i = tensor.shape.size(); i-- > 0;) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected) return false;
    expected *= tensor.shape[i];
  }
  return true;
}

Result<StateTensor> ReadTensor(const Pickle& pickle, const std::string& name, const PickleTensor& tensor) {
  const PickleStorage& storage = pickle.storages()[tensor.view.storage];
  const auto element = static_cast<uint64_t>(DTypeSize(storage.dtype));
  StateTensor result;
  result.info.name = name;
  result.info.dtype_name = DTypeName(storage.dtype);
  result.info.dtype = storage.dtype;
  result.info.shape = tensor.shape;
  result.storage = tensor.view.storage;
  const std::optional<uint64_t> bytes = TensorBytes(tensor.shape, 8 * DTypeSize(storage.dtype));
  if (!bytes) return BadTensor(name, "has the impossible shape " + ShapeString(tensor.shape));
  result.info.end = *bytes;
  if (*bytes == 0) return result;  // an empty tensor: its strides do not matter

  const auto available = static_cast<uint64_t>(tensor.view.elements);
  const auto offset = static_cast<uint64_t>(tensor.offset);
  const std::optional<uint64_t> extent = Extent(tensor);
  if (!extent || offset > available || *extent > available - offset) {
    return BadTensor(name, "of shape " + ShapeString(tensor.shape) + " reaches past its storage of " +
                               std::to_string(available) + " elements");
  }
  // Cannot overflow: the product is within the storage, whose size was checked.
  result.begin = (static_cast<uint64_t>(tensor.view.first) + offset) * element;
  result.end = result.begin + *extent * element;
  if (IsContiguous(tensor)) return result;
  result.strides = tensor.strides;
  for (size_t i = 0; i < result.strides.size(); ++i) {
    if (tensor.shape[i] == 1) result.strides[i] = 0;  // the stride of a dimension of size one may have any value
  }
  return result;
}

using IndexByText = std::map<std::string, uint32_t, std::less<>>;

// Marks tensors that have the same elements as an earlier tensor.
void FindTied(std::vector<StateTensor>* tensors) {
  IndexByText first;  // key: storage, offset, shape and strides
  for (uint32_t i = 0; i < tensors->size(); ++i) {
    StateTensor& tensor = (*tensors)[i];
    if (tensor.info.bytes() == 0) continue;
    const std::string place = std::to_string(tensor.storage) + " " + std::to_string(tensor.begin) +
                              ShapeString(tensor.info.shape) + ShapeString(tensor.strides);
    const auto [found, added] = first.emplace(place, i);
    if (!added) tensor.info.same_as = (*tensors)[found->second].info.name;
  }
}

Status CheckSizes(const Pickle& pickle, const std::vector<StateTensor>& tensors) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max() / (2 * kMaxRepetition);
  uint64_t held = 0;
  for (const PickleStorage& storage : pickle.storages()) held += std::min(kMost - held, *StorageBytes(storage));
  uint64_t claimed = 0;
  for (const StateTensor& tensor : tensors) {
    const uint64_t most = kMaxRepetition * held + kAlwaysAllowedBytes;
    if (tensor.info.bytes() > most || claimed > most - tensor.info.bytes()) {
      return BadTensor(tensor.info.name, "and those before it hold " + std::to_string(kMaxRepetition) +
                                             " times as many bytes as the file");
    }
    claimed += tensor.info.bytes();
  }
  return OkStatus();
}

}  // namespace

std::optional<uint64_t> StorageBytes(const PickleStorage& storage) {
  const int64_t shape[] = {storage.elements};
  return TensorBytes(shape, 8 * DTypeSize(storage.dtype));
}

Result<std::vector<StateTensor>> ReadStateDict(const Pickle& pickle) {
  for (const PickleStorage& storage : pickle.storages()) {
    if (!StorageBytes(storage))
      return MalformedFile("PyTorch file: a storage has " + std::to_string(storage.elements) + " elements");
  }
  const std::optional<PickleValue> dict = FindStateDict(pickle);
  if (!dict) return Unsupported("PyTorch file: it holds no dictionary of tensors");
  std::vector<StateTensor> tensors;
  IndexByText by_name;  // if two entries have the same name, the later one counts
  for (const auto& [key, value] : pickle.Dict(*dict)) {
    if (!key.is(Kind::kString) || !value.is(Kind::kTensor)) continue;
    const std::string name(pickle.String(key));
    PERUSE_ASSIGN_OR_RETURN(StateTensor tensor, ReadTensor(pickle, name, pickle.Tensor(value)));
    const auto [found, added] = by_name.emplace(name, static_cast<uint32_t>(tensors.size()));
    if (added) {
      tensors.push_back(std::move(tensor));
    } else {
      tensors[found->second] = std::move(tensor);
    }
  }
  PERUSE_RETURN_IF_ERROR(CheckSizes(pickle, tensors));
  FindTied(&tensors);
  return tensors;
}

}  // namespace peruse

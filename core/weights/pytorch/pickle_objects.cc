// Interprets names and persistent ids of PyTorch's pickles (torch/_utils.py, torch/serialization.py).
#include <algorithm>
#include <optional>
#include <string>

#include "core/base/utf8.h"
#include "core/weights/pytorch/pickle.h"

namespace peruse {
namespace {

using Kind = PickleValue::Kind;

Status Malformed(const std::string& what) { return MalformedFile("PyTorch file: its pickle " + what); }

struct StorageClass {
  std::string_view name;
  DType dtype;
};

constexpr StorageClass kStorageClasses[] = {
    {"FloatStorage", DType::kF32},  {"HalfStorage", DType::kF16}, {"BFloat16Storage", DType::kBF16},
    {"DoubleStorage", DType::kF64}, {"LongStorage", DType::kI64}, {"IntStorage", DType::kI32},
    {"ShortStorage", DType::kI16},  {"CharStorage", DType::kI8},  {"ByteStorage", DType::kU8},
    {"BoolStorage", DType::kBool},
};

std::optional<PickleValue> FindGlobal(std::string_view module, std::string_view name) {
  PickleValue value{.kind = Kind::kGlobal};
  if (module == "collections" && name == "OrderedDict") return value;
  if (module == "torch._utils") {
    value.global = name == "_rebuild_tensor_v2"   ? PickleGlobal::kRebuildTensorV2
                   : name == "_rebuild_tensor"    ? PickleGlobal::kRebuildTensor
                   : name == "_rebuild_parameter" ? PickleGlobal::kRebuildParameter
                                                  : PickleGlobal::kOrderedDict;
    return value.global == PickleGlobal::kOrderedDict ? std::nullopt : std::optional(value);
  }
  if (module != "torch") return std::nullopt;
  const auto* const found = std::find_if(std::begin(kStorageClasses), std::end(kStorageClasses),
                                         [name](const StorageClass& one) { return one.name == name; });
  if (found == std::end(kStorageClasses)) return std::nullopt;
  value.global = PickleGlobal::kStorageClass;
  value.dtype = found->dtype;
  return value;
}

std::string Printable(std::string_view text) {
  std::string result(text.substr(0, 80));
  for (char& c : result) {
    if (c < 0x20 || c > 0x7E) c = '?';
  }
  return result;
}

bool IsCount(const PickleValue& value) { return value.is(Kind::kInt) && value.number >= 0; }

}  // namespace

Status Pickle::PushGlobal(std::string_view module, std::string_view name) {
  const std::optional<Value> global = FindGlobal(module, name);
  if (global) return Push(*global);
  return Unsupported("PyTorch file: its pickle names " + Printable(module) + "." + Printable(name) +
                     ", which a dictionary of tensors does not need; nothing of it was executed");
}

// ("storage", class, key, location, elements). The legacy form has a sixth item: None or (view key, first, elements).
Status Pickle::PushStorage() {
  PERUSE_ASSIGN_OR_RETURN(const Value id, Pop());
  const std::span<const Value> parts = id.is(Kind::kStorageTuple) ? Tuple(id) : std::span<const Value>();
  if ((parts.size() != 5 && parts.size() != 6) || !parts[0].is(Kind::kString) || String(parts[0]) != "storage" ||
      !parts[1].is(Kind::kGlobal) || !parts[2].is(Kind::kString) || !parts[3].is(Kind::kString) || !IsCount(parts[4])) {
    return Malformed("has a persistent id that names no storage");
  }
  if (String(parts[3]) == "meta") return Unsupported("PyTorch file: a tensor on the device \"meta\" has no data");

  const PickleStorage named{std::string(String(parts[2])), parts[1].dtype, parts[4].number};
  const auto [found, added] = storage_by_key_.emplace(named.key, static_cast<uint32_t>(storages_.size()));
  if (added) storages_.push_back(named);
  const PickleStorage& storage = storages_[found->second];
  if (storage.dtype != named.dtype || storage.elements != named.elements) {
    return Malformed("says of the storage " + Printable(named.key) + " first one thing, then another");
  }

  PickleStorageView view{found->second, 0, storage.elements};
  if (parts.size() == 6 && !parts[5].is(Kind::kNone)) {
    const std::span<const Value> part = parts[5].is(Kind::kTuple) ? Tuple(parts[5]) : std::span<const Value>();
    if (part.size() != 3 || !IsCount(part[1]) || !IsCount(part[2]) || part[1].number > storage.elements ||
        part[2].number > storage.elements - part[1].number) {
      return Malformed("names an impossible part of the storage " + Printable(named.key));
    }
    view.first = part[1].number;
    view.elements = part[2].number;
  }
  views_.push_back(view);
  return PushNumber(Kind::kStorage, static_cast<int64_t>(views_.size()) - 1);
}

// OrderedDict.__setstate__ receives the attribute _metadata (module versions), which does not affect tensors.
Status Pickle::Build() {
  PERUSE_ASSIGN_OR_RETURN(const Value state, Pop());
  PERUSE_RETURN_IF_ERROR(Need(1));
  const Value& object = stack_.back();
  if (!object.is(Kind::kDict) || !object.ordered || !state.is(Kind::kDict)) {
    return Malformed("gives a state to something that is not an OrderedDict");
  }
  return OkStatus();
}

Status Pickle::Reduce() {
  PERUSE_ASSIGN_OR_RETURN(const Value arguments, Pop());
  PERUSE_ASSIGN_OR_RETURN(const Value callable, Pop());
  if (!callable.is(Kind::kGlobal) || callable.global == PickleGlobal::kStorageClass || !arguments.is(Kind::kTuple)) {
    return Malformed("calls something that is not a function");
  }
  const std::span<const Value> given = Tuple(arguments);
  switch (callable.global) {
    case PickleGlobal::kOrderedDict:
      if (!given.empty()) return Malformed("makes an OrderedDict of something");
      dicts_.emplace_back();
      return Push({.kind = Kind::kDict, .ordered = true, .number = static_cast<int64_t>(dicts_.size()) - 1});
    case PickleGlobal::kRebuildParameter:  // (tensor, requires_grad, hooks)
      if (given.size() != 3 || !given[0].is(Kind::kTensor) || !given[1].is(Kind::kBool) || !IsEmptyDict(given[2])) {
        return Malformed("makes a parameter of something else than a tensor");
      }
      return Push(Value(given[0]));
    case PickleGlobal::kRebuildTensor:
    case PickleGlobal::kRebuildTensorV2:
    case PickleGlobal::kStorageClass:
      break;
  }
  // (storage, offset, shape, strides[, requires_grad, hooks[, metadata]])
  const bool first_version = callable.global == PickleGlobal::kRebuildTensor;
  if (first_version ? given.size() != 4 : given.size() != 6 && given.size() != 7) {
    return Malformed("makes a tensor of " + std::to_string(given.size()) + " things");
  }
  if (given.size() >= 6 && (!given[4].is(Kind::kBool) || !IsEmptyDict(given[5]))) {
    return Malformed("makes a tensor with hooks");
  }
  // Metadata marks tensors that are stored negated or conjugated.
  if (given.size() == 7 && !given[6].is(Kind::kNone) && !IsEmptyDict(given[6])) {
    return Unsupported("PyTorch file: a tensor has metadata, which says that its data are not its values");
  }
  return RebuildTensor(given);
}

Status Pickle::RebuildTensor(std::span<const Value> arguments) {
  if (!arguments[0].is(Kind::kStorage) || !IsCount(arguments[1])) return Malformed("makes a tensor without a storage");
  PickleTensor tensor;
  tensor.view = views_[static_cast<size_t>(arguments[0].number)];
  tensor.offset = arguments[1].number;
  PERUSE_ASSIGN_OR_RETURN(tensor.shape, Sizes(arguments[2], "shape"));
  PERUSE_ASSIGN_OR_RETURN(tensor.strides, Sizes(arguments[3], "strides"));
  if (tensor.shape.size() != tensor.strides.size())
    return Malformed("makes a tensor whose shape and strides differ in length");
  tensors_.push_back(std::move(tensor));
  return PushNumber(Kind::kTensor, static_cast<int64_t>(tensors_.size()) - 1);
}

Result<std::vector<int64_t>> Pickle::Sizes(const Value& value, const char* what) const {
  constexpr size_t kMaxRank = 8;
  const std::span<const Value> items = value.is(Kind::kTuple) ? Tuple(value) : std::span<const Value>();
  if (!value.is(Kind::kTuple) || items.size() > kMaxRank || !std::all_of(items.begin(), items.end(), IsCount)) {
    return Malformed("makes a tensor with impossible " + std::string(what));
  }
  std::vector<int64_t> sizes;
  for (const Value& item : items) sizes.push_back(item.number);
  return sizes;
}

}  // namespace peruse

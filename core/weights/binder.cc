// The loading half of Binder: names, the check against a header, and the routing of bytes.
#include "core/weights/binder.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/base/memory.h"
#include "core/formats/quantize.h"

namespace peruse {
namespace {

// Tensors of a message: the first few, and how many more. If one layer does not fit, mostly none does, and nobody reads seventy names.
class TensorList {
 public:
  static constexpr int kMost = 6;

  bool empty() const { return count_ == 0; }

  void Add(const std::string& item) {
    if (++count_ > kMost) return;
    if (count_ > 1) text_ += ", ";
    text_ += item;
  }

  std::string Text() const {
    return count_ > kMost ? text_ + " and " + std::to_string(count_ - kMost) + " more" : text_;
  }

 private:
  std::string text_;
  int count_ = 0;
};

std::string Described(const std::string& name, std::span<const int64_t> shape) {
  return name + " " + ShapeString(shape);
}

// The scales of an int8 tensor are in the same file, under its name and this: F32, one for each row.
constexpr std::string_view kScaleSuffix = "_scale";

Status NotFinite(const std::string& tensor) {
  return MalformedFile("tensor \"" + tensor + "\" holds NaN or infinity: nothing can be computed with it");
}

// What is wrong with a header: all of it goes into one message.
struct HeaderFaults {
  TensorList missing;       // of the encoder
  TensorList missing_head;  // of the head
  std::string head;         // whose
  TensorList misshapen;
  TensorList unreadable;  // of a type that weights cannot have
  TensorList int8;        // int8 where floats are wanted

  Status ToStatus() const {
    std::string text;
    const auto add = [&text](const std::string& sentence) { text += (text.empty() ? "" : "; ") + sentence; };
    if (!missing.empty()) add("missing: " + missing.Text());
    if (!missing_head.empty()) add("missing for " + head + ": " + missing_head.Text());
    if (!misshapen.empty()) add("of another shape: " + misshapen.Text());
    if (!unreadable.empty()) add("of a type that weights cannot have: " + unreadable.Text());
    if (!int8.empty())
      add("of type int8, which only dtype q8 reads, and only for linear layers and words: " + int8.Text());
    if (text.empty()) return OkStatus();
    StatusCode code = StatusCode::kUnsupported;
    if (!misshapen.empty()) code = StatusCode::kShapeMismatch;
    if (!missing_head.empty()) code = StatusCode::kMissingHead;
    if (!missing.empty()) code = StatusCode::kMissingTensor;
    return Status(code, "the weights do not fit config.json; tensors " + text);
  }
};

}  // namespace

Binder::Binder(Backend& backend, Precision precision, std::vector<std::string> prefixes, const Parameters& parameters,
               Weights& weights)
    : backend_(backend),
      precision_(precision),
      parameters_(parameters),
      weights_(weights),
      names_(std::move(prefixes)) {}

Status Binder::ResolveNames(const std::vector<std::string_view>& names) {
  PERUSE_RETURN_IF_ERROR(names_.Resolve(names));
  for (const std::string& refused : parameters_.refused) {
    const auto has = [&refused](std::string_view name) { return name.starts_with(refused); };
    if (std::any_of(names.begin(), names.end(), has)) {
      return Unsupported("the checkpoint has tensors \"" + refused + "...\" of which its configuration does not tell");
    }
  }
  resolved_ = true;
  for (const Piece& piece : parameters_.pieces) {
    const bool held = requirements_.size() < held_.size() && held_[requirements_.size()];
    requirements_.push_back({&piece, names_.Of(piece), held, held});
  }
  return OkStatus();
}

Status Binder::SetNames(const std::vector<std::string>& names) {
  PERUSE_RETURN_IF_ERROR(ResolveNames({names.begin(), names.end()}));
  return CheckFit({});
}

// Everything that is wrong, in one error: tensors that no file has, and tensors of this file that are misshapen.
Status Binder::CheckFit(std::span<const TensorInfo> tensors) const {
  std::unordered_map<std::string, const TensorInfo*> by_name;
  for (const TensorInfo& tensor : tensors) by_name.emplace(names_.Normalise(tensor.name), &tensor);

  HeaderFaults faults;
  for (const Requirement& requirement : requirements_) {
    const Piece& piece = *requirement.piece;
    if (!names_.Has(requirement.name)) {
      if (!piece.head.empty()) faults.head = piece.head;
      (piece.head.empty() ? faults.missing : faults.missing_head).Add(Described(requirement.name, piece.shape));
      continue;
    }
    const auto found = by_name.find(requirement.name);
    if (found == by_name.end()) continue;  // in another shard
    const TensorInfo& tensor = *found->second;
    if (tensor.shape != piece.shape) {
      faults.misshapen.Add(Described(tensor.name, tensor.shape) + " instead of " + ShapeString(piece.shape));
    } else if (tensor.dtype == DType::kI8 && !TakesInt8(piece)) {
      faults.int8.Add(tensor.name);
    } else if (tensor.dtype == DType::kI8) {
      const std::vector<int64_t> shape = {piece.shape[0]};
      const auto scales = by_name.find(requirement.name + std::string(kScaleSuffix));
      if (scales == by_name.end()) {
        faults.missing.Add(Described(tensor.name + std::string(kScaleSuffix), shape));
      } else if (scales->second->shape != shape) {
        faults.misshapen.Add(Described(scales->second->name, scales->second->shape) + " instead of " +
                             ShapeString(shape));
      } else if (scales->second->dtype != DType::kF32) {
        faults.unreadable.Add(scales->second->name + " " + scales->second->dtype_name);
      }
    } else if (!tensor.dtype || !IsFloatDType(*tensor.dtype)) {
      faults.unreadable.Add(tensor.name + " " + tensor.dtype_name);
    }
  }
  return faults.ToStatus();
}

Status Binder::OnHeader(std::span<const TensorInfo> tensors) {
  PERUSE_RETURN_IF_ERROR(EnsureTensorMemory(tensors.size()));
  if (!resolved_) {
    std::vector<std::string_view> names;
    names.reserve(tensors.size());
    for (const TensorInfo& tensor : tensors) names.push_back(tensor.name);
    PERUSE_RETURN_IF_ERROR(ResolveNames(names));
  }
  PERUSE_RETURN_IF_ERROR(CheckFit(tensors));

  std::unordered_map<std::string, std::vector<Target>> wanted;
  for (Requirement& requirement : requirements_) wanted[requirement.name].push_back({&requirement, false});
  for (const TensorInfo& tensor : tensors) {
    const auto found = wanted.find(names_.Normalise(tensor.name));
    if (tensor.dtype != DType::kI8 || found == wanted.end()) continue;
    const std::string name = found->first + std::string(kScaleSuffix);
    std::vector<Target> scales = found->second;
    for (Target& target : scales) target.scales = true;
    wanted[name] = std::move(scales);
  }
  tensors_.assign(tensors.begin(), tensors.end());
  targets_.assign(tensors.size(), {});
  open_tensor_ = kNoTensor;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto found = wanted.find(names_.Normalise(tensors[i].name));
    if (found == wanted.end()) {
      extra_tensors_.push_back(tensors[i].name);
      continue;
    }
    targets_[i] = found->second;
    std::erase_if(targets_[i], [](const Target& target) { return target.requirement->held; });
    for (const Target& target : targets_[i]) {
      if (target.requirement->filled) return MalformedFile("tensor \"" + tensors[i].name + "\" is in two files");
    }
    ++tensors_used_;
  }
  return OkStatus();
}

bool Binder::TakesInt8(const Piece& piece) const {
  switch (piece.kind) {
    case Piece::Kind::kTable:
      return parameters_.tables[static_cast<size_t>(piece.parameter)].words && FormatOf(precision_).int8();
    case Piece::Kind::kRows:
    case Piece::Kind::kInterleaved:
      return FormatOf(linear(piece).precision).int8();
    default:
      return false;
  }
}

Status Binder::OpenTensor(const TensorInfo& tensor, const std::vector<Target>& targets) {
  if (!HasMemory()) return OutOfMemory("no memory for the weights");
  routes_.clear();
  for (const Target& target : targets) {
    Route route{target, nullptr};
    const DType dtype = *tensor.dtype;
    const Piece& piece = *target.requirement->piece;
    bool raw = false;
    if (piece.kind == Piece::Kind::kTable) {
      EmbeddingTable* table = nullptr;
      PERUSE_RETURN_IF_ERROR(EnsureTable(piece, target.scales ? DType::kI8 : dtype, &table));
      raw = !target.scales && table->storage() == dtype;
    }
    if (!raw) {
      const int64_t units = target.scales ? piece.shape[0] : Units(piece);
      int64_t elements = 1;
      for (const int64_t size : tensor.shape) elements *= size;
      const auto write = [this, target, &tensor](int32_t first, std::span<const float> values) {
        return AllFinite(values) ? Write(target, *tensor.dtype, first, values) : NotFinite(tensor.name);
      };
      route.reader = std::make_unique<FloatReader>(dtype, units, elements / units, write);
    }
    routes_.push_back(std::move(route));
  }
  return OkStatus();
}

Status Binder::OnData(size_t index, std::span<const uint8_t> bytes) {
  if (targets_[index].empty()) return OkStatus();
  if (index != open_tensor_) {
    PERUSE_RETURN_IF_ERROR(OpenTensor(tensors_[index], targets_[index]));
    open_tensor_ = index;
    open_bytes_ = 0;
  }
  open_bytes_ += bytes.size();
  for (const Route& route : routes_) {
    if (route.reader) {
      PERUSE_RETURN_IF_ERROR(route.reader->Feed(bytes));
    } else {
      EmbeddingTable& table = weights_.tables[static_cast<size_t>(route.target.requirement->piece->parameter)];
      if (!table.AppendBytes(bytes)) return NotFinite(tensors_[index].name);
    }
    if (open_bytes_ == tensors_[index].bytes() && !route.target.scales) route.target.requirement->filled = true;
  }
  if (open_bytes_ == tensors_[index].bytes()) routes_.clear();
  return OkStatus();
}

void Binder::NextFile() {
  tensors_.clear();
  targets_.clear();
  routes_.clear();
  open_tensor_ = kNoTensor;
}

Status Binder::Finish() const {
  TensorList missing;
  for (const Requirement& requirement : requirements_) {
    if (!requirement.filled) missing.Add(Described(requirement.name, requirement.piece->shape));
  }
  if (missing.empty()) return OkStatus();
  return Status(StatusCode::kMissingTensor, "the index names tensors that no file has: " + missing.Text());
}

std::vector<std::string> Binder::PieceNames() const {
  std::vector<std::string> names;
  for (const Requirement& requirement : requirements_) names.push_back(requirement.name);
  return names;
}

std::vector<std::string> Binder::HeadTensors() const {
  std::vector<std::string> names;
  for (const Requirement& requirement : requirements_) {
    if (!requirement.piece->head.empty()) names.push_back(requirement.name);
  }
  return names;
}

}  // namespace peruse

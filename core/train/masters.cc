// What masters are: read from a checkpoint, or begun at random.
#include "core/train/masters.h"

#include <algorithm>
#include <cmath>

#include "core/train/parts.h"

namespace peruse::train {
namespace {

Status Missing(const std::string& names) {
  return Status(StatusCode::kMissingTensor, "the weights do not fit config.json; tensors missing: " + names);
}

bool IsOfLinear(const Piece& piece, int32_t linear) {
  const Part part = PartOf(piece);
  return (part.kind == Piece::Kind::kRows || part.kind == Piece::Kind::kBias) && part.parameter == linear;
}

}  // namespace

std::optional<int32_t> LayerNumber(const std::string& name) {
  const size_t at = name.find("layer.");
  size_t i = at + 6;
  if (at == std::string::npos || i >= name.size() || name[i] < '0' || name[i] > '9') return std::nullopt;
  int32_t number = 0;
  for (; i < name.size() && name[i] >= '0' && name[i] <= '9'; ++i) number = number * 10 + (name[i] - '0');
  return number;
}

Masters::Masters(const Program& program, const Parameters& parameters, std::vector<std::string> prefixes)
    : parameters_(parameters), names_(std::move(prefixes)) {
  held_.linears.resize(parameters.linears.size());
  held_.constants.resize(parameters.constants.size());
  held_.tables.resize(parameters.tables.size());
  norms_.resize(parameters.constants.size());
  for (const Op& op : program.ops) {
    const auto* norm = std::get_if<ops::LayerNorm>(&op);
    if (norm == nullptr) continue;
    for (const Value value : {norm->norm.weight, norm->norm.bias}) {
      norms_[static_cast<size_t>(program.info(value).constant)] = true;
    }
  }
}

// ---- The checkpoint -------------------------------------------------------------------------------------------------

// Each tensor once, the pieces of a parameter one behind the other.
void Masters::CollectMasters() {
  for (const Piece& piece : parameters_.pieces) places_.push_back({&piece, 0});
  const auto rank = [](const Place& place) {
    const Part part = PartOf(*place.piece);
    const bool linear = part.kind == Piece::Kind::kRows || part.kind == Piece::Kind::kBias;
    return std::tuple(linear                                ? 0
                      : part.kind == Piece::Kind::kConstant ? 1
                                                            : 2,
                      part.parameter, part.kind, place.piece->first);
  };
  std::stable_sort(places_.begin(), places_.end(), [&](const Place& a, const Place& b) { return rank(a) < rank(b); });
  std::map<std::string, size_t> known;
  for (Place& place : places_) {
    const Piece& piece = *place.piece;
    const std::string& name = names_.Of(piece);
    const auto [found, added] = known.emplace(name, masters_.size());
    place.master = found->second;
    if (added)
      masters_.push_back({.name = name, .head = piece.head, .shape = piece.shape, .size = SizeOf(piece.shape)});
    Master& master = masters_[place.master];
    if (piece.head.empty()) master.head.clear();  // the encoder's, wherever else it is used
    const bool constant = PartOf(piece).kind == Piece::Kind::kConstant;
    master.renewed = master.renewed || (renewed_ >= 0 && IsOfLinear(piece, renewed_));
    master.norm = master.norm || (constant && norms_[static_cast<size_t>(piece.parameter)]);
  }
}

Status Masters::SetNames(const std::vector<std::string_view>& names) {
  PERUSE_RETURN_IF_ERROR(names_.Resolve(names));
  CollectMasters();
  std::string missing;
  for (size_t i = 0; i < masters_.size(); ++i) {
    Master& master = masters_[i];
    by_name_[master.name] = i;
    master.fresh = true;
    if (!names_.Has(master.name) && master.head.empty()) missing += (missing.empty() ? "" : ", ") + master.name;
  }
  if (!missing.empty()) return Missing(missing);
  return AllocateValues();
}

Status Masters::CheckComplete() const {
  std::string missing;
  for (const Master& master : masters_) {
    if (master.fresh && master.head.empty()) missing += (missing.empty() ? "" : ", ") + master.name;
  }
  return missing.empty() ? OkStatus() : Missing(missing);
}

Status Masters::OnHeader(std::span<const TensorInfo> tensors) {
  if (masters_.empty()) {
    std::vector<std::string_view> names;
    for (const TensorInfo& tensor : tensors) names.push_back(tensor.name);
    PERUSE_RETURN_IF_ERROR(SetNames(names));
  }
  infos_.assign(tensors.begin(), tensors.end());
  targets_.assign(tensors.size(), -1);
  reading_ = static_cast<size_t>(-1);
  std::string wrong;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto found = by_name_.find(names_.Normalise(tensors[i].name));
    if (found == by_name_.end()) continue;
    Master& master = masters_[found->second];
    if (!tensors[i].dtype || !IsFloatDType(*tensors[i].dtype)) {
      return Unsupported("tensor \"" + tensors[i].name + "\" is of type " + tensors[i].dtype_name +
                         "; only a checkpoint of floats can be taught");
    }
    if (master.renewed) continue;
    if (SizeOf(tensors[i].shape) != master.size && !master.head.empty()) continue;  // another number of labels
    if (tensors[i].shape != master.shape) {
      wrong += (wrong.empty() ? "" : ", ") + tensors[i].name + " " + ShapeString(tensors[i].shape) + " instead of " +
               ShapeString(master.shape);
      continue;
    }
    master.fresh = false;
    master.file_name = tensors[i].name;
    targets_[i] = static_cast<int32_t>(found->second);
  }
  if (!wrong.empty()) {
    return Status(StatusCode::kShapeMismatch, "the weights do not fit config.json; tensors of another shape: " + wrong);
  }
  return OkStatus();
}

Status Masters::BeginFresh() {
  PERUSE_RETURN_IF_ERROR(names_.Resolve({}));
  CollectMasters();
  for (Master& master : masters_) master.fresh = true;
  return AllocateValues();
}

Status Masters::AllocateValues() {
  int64_t size = 0;
  for (const Master& master : masters_) size += master.size;
  PERUSE_RETURN_IF_ERROR(values_.Resize(static_cast<size_t>(size)));
  float* next = values_.values().data();
  for (Master& master : masters_) {
    master.values = next;
    next += master.size;
  }
  return OkStatus();
}

Status Masters::OnData(size_t index, std::span<const uint8_t> bytes) {
  if (targets_[index] < 0) return OkStatus();
  if (index != reading_) {
    reading_ = index;
    const Master& master = masters_[static_cast<size_t>(targets_[index])];
    const int64_t rows = master.shape.empty() ? 1 : master.shape[0];
    const int64_t width = master.size / rows;
    const auto write = [&master, width](int32_t first, std::span<const float> values) {
      for (const float value : values) {
        if (!std::isfinite(value)) {
          return MalformedFile("tensor \"" + master.file_name +
                               "\" holds NaN or infinity: nothing can be computed with it");
        }
      }
      std::copy(values.begin(), values.end(), master.values + first * width);
      return OkStatus();
    };
    reader_ = std::make_unique<FloatReader>(*infos_[index].dtype, rows, width, write);
  }
  return reader_->Feed(bytes);
}

void Masters::PermuteRows(int32_t linear, std::span<const int32_t> order) {
  for (const Place& place : places_) {
    if (!IsOfLinear(*place.piece, linear)) continue;
    const Master& master = masters_[place.master];
    if (master.fresh) continue;
    const std::vector<float> before(master.values, master.values + master.size);
    const auto width = static_cast<size_t>(master.size) / order.size();
    for (size_t i = 0; i < order.size(); ++i)
      std::copy_n(before.data() + static_cast<size_t>(order[i]) * width, width, master.values + i * width);
  }
}

// ---- A start --------------------------------------------------------------------------------------------------------

void Masters::Initialise(uint64_t seed, float deviation) {
  const std::array<uint32_t, 2> key = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  for (size_t number = 0; number < masters_.size(); ++number) {
    Master& master = masters_[number];
    if (!master.fresh) continue;
    const bool a = master.name.ends_with(".lora_A"), b = master.name.ends_with(".lora_B");
    if (b || master.name.ends_with("bias")) {
      std::fill_n(master.values, master.size, 0.0f);
      continue;
    }
    if (master.norm) {
      std::fill_n(master.values, master.size, 1.0f);
      continue;
    }
    // kaiming_uniform_(a = sqrt(5)), as peft: within 1 / sqrt(in).
    const float reach = a ? 1 / std::sqrt(static_cast<float>(master.shape[1])) : 0;
    for (int64_t i = 0; i < master.size; ++i) {
      const auto words = Philox({static_cast<uint32_t>(i), static_cast<uint32_t>(number), 0xFFFFFFFFu, 0}, key);
      const double one = (words[0] + 0.5) / 4294967296.0, two = (words[1] + 0.5) / 4294967296.0;
      const double normal = std::sqrt(-2 * std::log(one)) * std::cos(2 * M_PI * two);  // Box and Muller
      master.values[i] = a ? reach * static_cast<float>(2 * one - 1) : deviation * static_cast<float>(normal);
    }
  }
}

void Masters::PassThrough() {
  for (Master& master : masters_) {
    const bool square = master.shape.size() == 2 && master.shape[0] == master.shape[1];
    if (!master.fresh || master.head.empty() || !square) continue;
    for (int64_t i = 0; i < master.size; ++i) master.values[i] = i % (master.shape[1] + 1) == 0 ? 1.0f : 0.0f;
  }
}

}  // namespace peruse::train

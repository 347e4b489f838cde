#include "core/weights/checkpoint.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/crc32.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/formats/weight_format.h"
#include "core/weights/float_reader.h"
#include "core/weights/stored_rows.h"
#include "core/weights/tensor_info.h"

namespace peruse {

Checkpoint::Checkpoint(const Parameters& parameters, std::vector<std::string> prefixes, CheckpointSink& sink)
    : parameters_(parameters),
      sink_(sink),
      parser_(std::make_unique<WeightsParser>(First())),
      names_(std::move(prefixes)) {}

Status Checkpoint::Keep(Status status) {
  if (failure_.ok()) failure_ = std::move(status);
  return failure_;
}

void Checkpoint::SetAdapter(std::unique_ptr<LoraAdapter> adapter, const cpu::ThreadPool* pool) {
  adapter_ = std::move(adapter);
  merger_ = std::make_unique<LoraMerger>(*adapter_, names_.prefixes(), static_cast<TensorVisitor&>(*this), &parameters_,
                                         pool);
  parser_ = std::make_unique<WeightsParser>(First());
}

Result<std::vector<std::string>> Checkpoint::SetShardIndex(std::string_view index_json) {
  PERUSE_RETURN_IF_ERROR(failure_);
  Result<std::vector<std::string>> files = ReadShardIndex(index_json);
  PERUSE_RETURN_IF_ERROR(Keep(files.status()));
  return files;
}

Result<std::vector<std::string>> Checkpoint::ReadShardIndex(std::string_view index_json) {
  PERUSE_ASSIGN_OR_RETURN(ShardIndex index, ParseShardIndex(index_json));
  if (merger_) {
    PERUSE_ASSIGN_OR_RETURN(index.tensors, merger_->SetNames(index.tensors));
  }
  PERUSE_RETURN_IF_ERROR(Resolve({index.tensors.begin(), index.tensors.end()}));
  PERUSE_RETURN_IF_ERROR(CheckFit({}, {}));
  return std::move(index.files);
}

Status Checkpoint::Feed(std::span<const uint8_t> chunk) {
  PERUSE_RETURN_IF_ERROR(failure_);
  between_shards_ = between_shards_ && chunk.empty();
  return Keep(parser_->Feed(chunk));
}

Status Checkpoint::EndShard() {
  PERUSE_RETURN_IF_ERROR(failure_);
  PERUSE_RETURN_IF_ERROR(Keep(parser_->Finish()));
  parser_ = std::make_unique<WeightsParser>(First());
  writer_.reset();
  open_ = kNone;
  between_shards_ = true;
  return OkStatus();
}

std::optional<DType> Checkpoint::StoredType(const ParameterTensor& tensor) const {
  if (!resolved_) return std::nullopt;
  const std::string_view name = names_.Of(tensor);
  for (const TensorInfo& info : tensors_) {
    if (names_.Normalise(info.name) == name) return info.dtype;
  }
  return std::nullopt;
}

Status Checkpoint::Finish() {
  PERUSE_RETURN_IF_ERROR(failure_);
  if (!between_shards_) PERUSE_RETURN_IF_ERROR(Keep(parser_->Finish()));
  NameList missing;
  for (const NeededTensor& needed : needed_) {
    if (needed.read || needed.in_place() || sink_.IsOptional(needed)) continue;
    missing.Add(Described(needed.name, ShapeOf(needed)));
  }
  if (missing.empty()) return OkStatus();
  return Keep(Status(StatusCode::kMissingTensor, "the index names tensors that no file has: " + missing.Text()));
}

bool Checkpoint::have_different_values() const {
  const auto& [read, other] = twins_;
  return read.bytes > 0 && other.bytes > 0 && (read.bytes != other.bytes || read.checksum != other.checksum);
}

Status Checkpoint::Resolve(const std::vector<std::string_view>& names) {
  PERUSE_RETURN_IF_ERROR(names_.Resolve(names));
  for (const std::string& refused : parameters_.refused) {
    const auto has = [&refused](std::string_view name) { return name.starts_with(refused); };
    if (std::any_of(names.begin(), names.end(), has)) {
      return Unsupported("the checkpoint has tensors \"" + refused + "...\" of which its configuration does not tell");
    }
  }
  CollectNeeded();
  resolved_ = true;
  return sink_.Begin(names_, needed_);
}

void Checkpoint::CollectNeeded() {
  for (size_t use = 0; use < parameters_.tensors.size(); ++use) {
    const ParameterTensor& tensor = parameters_.tensors[use];
    const bool skipped = use < skipped_.size() && skipped_[use];
    const auto [found, added] = needed_numbers_.emplace(names_.Of(tensor), needed_.size());
    if (added) needed_.push_back({.name = names_.Of(tensor), .head = tensor.head});
    NeededTensor& needed = needed_[found->second];
    // The encoder uses the tensor, too, so it does not belong to the head.
    if (tensor.head.empty()) needed.head.clear();
    if (tensor.parameter.kind == ParameterId::Kind::kTable) needed.words |= parameters_.table(tensor.parameter).words;
    if (!skipped) needed.uses.push_back(use);
  }
}

bool Checkpoint::TakesEncoded(const NeededTensor& needed, const TensorInfo& tensor) const {
  return tensor.dtype && !IsFloatDType(*tensor.dtype) &&
         std::all_of(needed.uses.begin(), needed.uses.end(),
                     [&](size_t use) { return sink_.TakesEncoded(parameters_.tensors[use], *tensor.dtype); });
}

bool Checkpoint::IsLeftOut(const NeededTensor& needed, const TensorInfo& tensor) const {
  return sink_.IsOptional(needed) && ElementCount(tensor.shape) != ElementCount(ShapeOf(needed));
}

void Checkpoint::CheckTensor(const NeededTensor& needed, const TensorInfo& tensor, const TensorInfo* scales,
                             Misfits& misfits) const {
  if (IsLeftOut(needed, tensor)) return;
  const WeightFormat* const format = TakesEncoded(needed, tensor) ? FormatOfFile(*tensor.dtype) : nullptr;
  if (format == nullptr && tensor.dtype == DType::kI8) return misfits.int8.Add(tensor.name);
  if (format == nullptr && tensor.dtype == DType::kU8) return misfits.int4.Add(tensor.name);
  const auto rows_of = [&](size_t use) {
    return StoredRows{format, RowsTransposed(parameters_, parameters_.tensors[use])};
  };
  const auto misfit = std::find_if(needed.uses.begin(), needed.uses.end(), [&](size_t use) {
    const std::vector<int64_t>& shape = parameters_.tensors[use].shape;
    return (format != nullptr ? rows_of(use).FileShape(shape) : shape) != tensor.shape;
  });
  const size_t shown = misfit == needed.uses.end() ? needed.uses[0] : *misfit;
  const std::vector<int64_t>& shape = parameters_.tensors[shown].shape;
  if (misfit != needed.uses.end()) {
    const std::vector<int64_t> needs = format != nullptr ? rows_of(shown).FileShape(shape) : shape;
    misfits.misshapen.Add(Described(tensor.name, tensor.shape) + " instead of " + ShapeString(needs));
  } else if (format != nullptr) {
    const std::vector<int64_t> scale_shape = rows_of(shown).ScaleShape(shape);
    if (scales == nullptr) {
      misfits.missing.Add(Described(tensor.name + std::string(kScaleSuffix), scale_shape));
    } else if (scales->shape != scale_shape) {
      misfits.misshapen.Add(Described(scales->name, scales->shape) + " instead of " + ShapeString(scale_shape));
    } else if (scales->dtype != format->scale_type() && !(scales->dtype == DType::kF32 && !needed.words)) {
      misfits.unreadable.Add(scales->name + " " + scales->dtype_name);
    }
  } else if (!tensor.dtype || !IsFloatDType(*tensor.dtype)) {
    misfits.unreadable.Add(tensor.name + " " + tensor.dtype_name);
  }
}

Status Checkpoint::CheckFit(std::span<const TensorInfo> tensors, const Numbers& numbers) const {
  const auto find = [&](const std::string& name) {
    const auto found = numbers.find(name);
    return found == numbers.end() ? nullptr : &tensors[found->second];
  };
  Misfits misfits;
  for (const NeededTensor& needed : needed_) {
    if (needed.in_place()) continue;
    if (const TensorInfo* tensor = find(needed.name)) {
      CheckTensor(needed, *tensor, find(needed.name + std::string(kScaleSuffix)), misfits);
    } else if (!names_.Has(needed.name) && !sink_.IsOptional(needed)) {
      if (!needed.head.empty()) misfits.head = needed.head;
      (needed.head.empty() ? misfits.missing : misfits.missing_head).Add(Described(needed.name, ShapeOf(needed)));
    }
  }
  return misfits.ToStatus();
}

Status Checkpoint::OnHeader(std::span<const TensorInfo> tensors) {
  PERUSE_RETURN_IF_ERROR(EnsureTensorMemory(tensors.size()));
  if (!resolved_) {
    std::vector<std::string_view> names;
    names.reserve(tensors.size());
    for (const TensorInfo& tensor : tensors) names.push_back(tensor.name);
    PERUSE_RETURN_IF_ERROR(Resolve(names));
  }
  Numbers numbers;
  for (size_t i = 0; i < tensors.size(); ++i) numbers.emplace(names_.Normalise(tensors[i].name), i);
  PERUSE_RETURN_IF_ERROR(CheckFit(tensors, numbers));

  tensors_.assign(tensors.begin(), tensors.end());
  targets_.assign(tensors.size(), {});
  open_ = kNone;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string name = names_.Normalise(tensors[i].name);
    Target target = TargetOf(tensors[i], name, tensors, numbers);
    for (size_t twin = 0; twin < std::size(twins_); ++twin) {
      if (name == twins_[twin].name && tensors[i].same_as.empty()) target.twin = twin;
    }
    if (target.needed == kNone) {
      extra_tensors_.push_back(tensors[i].name);
      targets_[i] = target;
      continue;
    }
    ++tensors_used_;
    NeededTensor& needed = needed_[target.needed];
    if (target.content == CheckpointSink::Content::kEncoded) needed.format = FormatOfFile(*tensors[i].dtype);
    if (needed.in_place() || IsLeftOut(needed, tensors[i])) continue;
    if (needed.read) return MalformedFile("tensor \"" + tensors[i].name + "\" is in two files");
    targets_[i] = target;
  }
  sink_.OnFormats(needed_);
  return OkStatus();
}

// Returns the needed tensor that a tensor of the file provides: its values, or the scales of its encoded rows.
Checkpoint::Target Checkpoint::TargetOf(const TensorInfo& tensor, const std::string& name,
                                        std::span<const TensorInfo> tensors, const Numbers& numbers) const {
  using Content = CheckpointSink::Content;
  if (const auto found = needed_numbers_.find(name); found != needed_numbers_.end()) {
    const bool encoded = TakesEncoded(needed_[found->second], tensor);
    return {found->second, encoded ? Content::kEncoded : Content::kFloats};
  }
  if (!name.ends_with(kScaleSuffix)) return {};
  const std::string scaled = name.substr(0, name.size() - kScaleSuffix.size());
  const auto found = needed_numbers_.find(scaled);
  const auto payload = numbers.find(scaled);
  if (found == needed_numbers_.end() || payload == numbers.end()) return {};
  if (!TakesEncoded(needed_[found->second], tensors[payload->second])) return {};
  return {found->second, Content::kScales};
}

Status Checkpoint::OnData(size_t index, std::span<const uint8_t> bytes) {
  const Target& target = targets_[index];
  if (target.twin != kNone) {
    Twin& twin = twins_[target.twin];
    twin.checksum = Crc32(twin.checksum, bytes);
    twin.bytes += bytes.size();
  }
  if (target.needed == kNone) return OkStatus();
  NeededTensor& needed = needed_[target.needed];
  if (index != open_) {
    if (!HasMemory()) return OutOfMemory("no memory for the weights");
    PERUSE_ASSIGN_OR_RETURN(writer_, sink_.Open(needed, tensors_[index], target.content));
    open_ = index;
    open_bytes_ = 0;
  }
  PERUSE_RETURN_IF_ERROR(writer_->Feed(bytes));
  open_bytes_ += bytes.size();
  if (open_bytes_ < tensors_[index].bytes()) return OkStatus();
  writer_.reset();
  if (target.content != CheckpointSink::Content::kScales) needed.read = true;
  return OkStatus();
}

std::string Described(const std::string& name, std::span<const int64_t> shape) {
  return name + " " + ShapeString(shape);
}

Status Misfits::ToStatus() const {
  std::string text;
  int left =
      NameList::kMost;  // names that the message may still have: one layer that does not fit has dozens of tensors
  const auto add = [&](const std::string& kind, const NameList& names) {
    if (names.empty()) return;
    text += (text.empty() ? "" : "; ") + kind + ": " + names.Text(left);
    left = std::max(0, left - names.count());
  };
  add("missing", missing);
  add("missing for " + head, missing_head);
  add("of another shape", misshapen);
  add("of a type that weights cannot have", unreadable);
  add("of type int8, which only dtype q8 reads, and only for linear layers and words", int8);
  add("of type uint8 (4 bits), which only dtype q4 reads for words, and q8 and q4 for linear layers", int4);
  if (text.empty()) return OkStatus();
  StatusCode code = StatusCode::kUnsupported;
  if (!misshapen.empty()) code = StatusCode::kShapeMismatch;
  if (!missing_head.empty()) code = StatusCode::kMissingHead;
  if (!missing.empty()) code = StatusCode::kMissingTensor;
  if (code == StatusCode::kMissingHead && misshapen.empty() && unreadable.empty() && int8.empty() && int4.empty()) {
    return Status(code, "the checkpoint has no tensors for " + head + ": " + missing_head.Text());
  }
  return Status(code, "the weights do not fit config.json; tensors " + text);
}

namespace {

// A shard's name becomes part of a URL or path, so it must be a plain file name.
bool IsPlainFileName(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.find_first_of("/\\:?#%") == std::string_view::npos;
}

}  // namespace

Result<ShardIndex> ParseShardIndex(std::string_view json) {
  constexpr std::string_view kName = "the index of the weights";
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(json, kName));
  const JsonValue map = document.root().FindMember("weight_map");
  if (!map.IsObject()) return MalformedFile(std::string(kName) + " has no weight_map");
  ShardIndex index;
  std::set<std::string> files;
  for (size_t i = 0; i < map.size(); ++i) {
    const auto file = map.MemberValue(i).GetString();
    if (!file || !IsPlainFileName(*file)) {
      return MalformedFile(std::string(kName) + ": tensor \"" + std::string(map.MemberName(i)) +
                           "\" is not in a file with a plain name");
    }
    index.tensors.emplace_back(map.MemberName(i));
    files.emplace(*file);
  }
  index.files.assign(files.begin(), files.end());
  return index;
}

}  // namespace peruse

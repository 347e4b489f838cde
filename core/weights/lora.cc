#include "core/weights/lora.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/json.h"
#include "core/base/memory.h"

namespace peruse {
namespace {

constexpr std::string_view kConfig = "adapter_config.json";
constexpr std::string_view kModelPrefix = "base_model.model.";

Status NotMerged(const std::string& what) {
  return Unsupported(std::string(kConfig) + ": " + what + " is not supported");
}

bool IsSet(JsonValue value) {
  return value.exists() && !value.IsNull() && value.GetBool() != false &&
         (value.GetBool() == true || value.size() > 0 || value.IsString() || value.IsNumber());
}

void RemoveAll(std::string* name, std::string_view part) {
  for (size_t at = name->find(part); at != std::string::npos; at = name->find(part, at)) name->erase(at, part.size());
}

// The name in the checkpoint of what peft saves: without its wrappers.
std::string CheckpointName(std::string_view name) {
  if (name.starts_with(kModelPrefix)) name.remove_prefix(kModelPrefix.size());
  std::string result(name);
  for (const std::string_view part :
       {".modules_to_save.default", ".modules_to_save", ".original_module", ".base_layer"}) {
    RemoveAll(&result, part);
  }
  return result;
}

// Where ".lora_A" and the like start; npos for tensors that are saved whole.
size_t FindLora(std::string_view name) { return name.find(".lora_"); }

std::vector<float> Floats(const LoraTensor& tensor) {
  std::vector<float> values(tensor.bytes.size() / static_cast<size_t>(DTypeSize(*tensor.info.dtype)));
  ConvertToFloat(*tensor.info.dtype, tensor.bytes, values);
  return values;
}

std::vector<float> Transposed(std::span<const float> values, int64_t rows, int64_t cols) {
  std::vector<float> result(values.size());
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c)
      result[static_cast<size_t>(c * rows + r)] = values[static_cast<size_t>(r * cols + c)];
  }
  return result;
}

}  // namespace

Status LoraAdapter::ReadConfig(std::string_view json) {
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(json, kConfig));
  const JsonValue root = document.root();
  const std::string_view type = root.FindMember("peft_type").GetString().value_or("(none)");
  if (type != "LORA") return NotMerged("an adapter of the type " + std::string(type));
  // Each of these changes what is to be added, or to what.
  for (const char* option : {"use_dora", "lora_bias", "fan_in_fan_out", "layer_replication", "trainable_token_indices",
                             "target_parameters", "use_qalora", "alora_invocation_tokens", "arrow_config"}) {
    if (IsSet(root.FindMember(option))) return NotMerged(option);
  }
  constexpr std::string_view kPlainStarts[] = {"gaussian", "eva", "orthogonal"};
  if (const auto start = root.FindMember("init_lora_weights").GetString();
      start && std::find(std::begin(kPlainStarts), std::end(kPlainStarts), *start) == std::end(kPlainStarts)) {
    return NotMerged("init_lora_weights \"" + std::string(*start) + "\", which changes the checkpoint too,");
  }
  const std::optional<double> alpha = root.FindMember("lora_alpha").GetDouble();
  if (!alpha) return MalformedFile(std::string(kConfig) + " has no lora_alpha");
  alpha_ = *alpha;
  rank_stabilized_ = root.FindMember("use_rslora").GetBool().value_or(false);
  const JsonValue pattern = root.FindMember("alpha_pattern");
  for (size_t i = 0; i < pattern.size(); ++i) {
    const std::string name(pattern.MemberName(i));
    const std::optional<double> value = pattern.MemberValue(i).GetDouble();
    if (!value) return MalformedFile(std::string(kConfig) + " has an alpha_pattern without a number");
    if (name.find_first_of("\\^$*+?()[]{}|") != std::string::npos)
      return NotMerged("the alpha_pattern \"" + name + "\"");
    alpha_pattern_.emplace_back(name, *value);
  }
  return OkStatus();
}

// peft's get_pattern_key: a pattern matches a module of its name, or the end of one behind a dot.
double LoraAdapter::ScaleOf(const std::string& module, int64_t rank) const {
  double alpha = alpha_;
  for (const auto& [pattern, value] : alpha_pattern_) {
    if (module == pattern || module.ends_with("." + pattern)) alpha = value;
  }
  const auto r = static_cast<double>(rank);
  return alpha / (rank_stabilized_ ? std::sqrt(r) : r);
}

Status LoraAdapter::OnHeader(std::span<const TensorInfo> tensors) {
  for (const TensorInfo& info : tensors) {
    if (!info.dtype || !IsFloatDType(*info.dtype)) {
      return Unsupported("the adapter's tensor \"" + info.name + "\" is of the type " + info.dtype_name);
    }
    read_.push_back({info, {}});
  }
  return OkStatus();
}

Status LoraAdapter::OnData(size_t index, std::span<const uint8_t> bytes) {
  std::vector<uint8_t>& to = read_[index].bytes;
  if (to.capacity() - to.size() < bytes.size()) {
    const size_t capacity = std::max(2 * to.capacity(), to.size() + bytes.size());
    PERUSE_RETURN_IF_ERROR(EnsureMemory(capacity, "an adapter"));
    to.reserve(capacity);
  }
  to.insert(to.end(), bytes.begin(), bytes.end());
  return OkStatus();
}

Status LoraAdapter::Finish() {
  PERUSE_RETURN_IF_ERROR(parser_.Finish());
  std::vector<Factor> factors;
  for (LoraTensor& tensor : read_) {
    const std::string& name = tensor.info.name;
    const size_t at = FindLora(name);
    if (at == std::string::npos) {
      tensors_.push_back(std::move(tensor));
      tensors_.back().info.name = CheckpointName(tensors_.back().info.name);
      continue;
    }
    // ".lora_A.weight", ".lora_A.default.weight", ".lora_embedding_A", ".lora_embedding_A.default"
    const std::string_view kind = std::string_view(name).substr(at + 6);
    const bool embedding = kind.starts_with("embedding_");
    const std::string_view factor = embedding ? kind.substr(10) : kind;
    if ((!factor.starts_with('A') && !factor.starts_with('B')) || (factor.size() > 1 && factor[1] != '.') ||
        factor.ends_with(".bias") || tensor.info.shape.size() != 2) {
      return Unsupported("the adapter's tensor \"" + name + "\" " + ShapeString(tensor.info.shape) +
                         " is not supported: only linear layers and embeddings are merged");
    }
    factors.push_back({CheckpointName(std::string_view(name).substr(0, at)), factor[0] == 'A', embedding, &tensor});
  }
  for (const Factor& one : factors) {
    const auto other = std::find_if(factors.begin(), factors.end(), [&](const Factor& factor) {
      return factor.module == one.module && factor.is_a != one.is_a;
    });
    if (other == factors.end()) {
      return Status(StatusCode::kMissingTensor, "the adapter has but one factor for " + one.module);
    }
    if (one.is_a) PERUSE_RETURN_IF_ERROR(MakeUpdate(one, *other));
  }
  read_.clear();
  if (updates_.empty() && tensors_.empty()) return MalformedFile("the adapter holds no tensors");
  return OkStatus();
}

// linear:    W [out, in] + B [out, r] A [r, in]
// embedding: W [words, width] + (B [width, r] A [r, words])^T
Status LoraAdapter::MakeUpdate(const Factor& factor_a, const Factor& factor_b) {
  const std::vector<int64_t>& a = factor_a.tensor->info.shape;
  const std::vector<int64_t>& b = factor_b.tensor->info.shape;
  if (a[0] != b[1] || a[0] == 0) {
    return Status(StatusCode::kShapeMismatch, "the adapter's factors for " + factor_a.module +
                                                  " do not fit: " + ShapeString(a) + " and " + ShapeString(b));
  }
  PERUSE_RETURN_IF_ERROR(EnsureMemory(8 * static_cast<size_t>(a[0] * (a[1] + b[0])), "an adapter"));
  LoraUpdate& update = updates_.emplace_back();
  update.name = factor_a.module + ".weight";
  update.rank = a[0];
  update.scale = ScaleOf(factor_a.module, a[0]);
  update.left = Floats(*factor_b.tensor);
  update.right = Floats(*factor_a.tensor);
  update.rows = b[0];
  update.cols = a[1];
  if (factor_a.embedding) {
    std::swap(update.rows, update.cols);
    std::vector<float> left = Transposed(update.right, a[0], a[1]);
    update.right = Transposed(update.left, b[0], b[1]);
    update.left = std::move(left);
  }
  return OkStatus();
}

// ---- Merging ----------------------------------------------------------------------------------------------------------

std::string_view LoraMerger::Bare(std::string_view name) const {
  for (const std::string& prefix : prefixes_) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

Status LoraMerger::Resolve(std::span<const std::string> names) {
  resolved_ = true;
  const auto has = [&](std::string_view wanted) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return Same(name, wanted); });
  };
  std::string missing;
  for (const LoraUpdate& update : adapter_.updates()) {
    if (!has(update.name)) missing += (missing.empty() ? "" : ", ") + update.name;
  }
  if (!missing.empty()) {
    return Status(StatusCode::kMissingTensor,
                  "the adapter changes tensors that the checkpoint does not have: " + missing);
  }
  for (const LoraTensor& tensor : adapter_.tensors()) {
    if (!has(tensor.info.name)) added_.push_back(&tensor);
  }
  return OkStatus();
}

Result<std::vector<std::string>> LoraMerger::SetNames(const std::vector<std::string>& names) {
  PERUSE_RETURN_IF_ERROR(Resolve(names));
  std::vector<std::string> all = names;
  for (const LoraTensor* tensor : added_) all.push_back(tensor->info.name);
  return all;
}

LoraMerger::Part LoraMerger::PartOf(std::string_view name) const {
  Part part;
  for (const LoraTensor& tensor : adapter_.tensors()) {
    if (Same(tensor.info.name, name)) part.replaced = &tensor;
  }
  for (const LoraUpdate& update : adapter_.updates()) {
    if (part.replaced == nullptr && Same(update.name, name)) part.update = &update;
  }
  return part;
}

Status LoraMerger::CheckUpdate(const TensorInfo& tensor, const LoraUpdate& update) const {
  if (!tensor.dtype || !IsFloatDType(*tensor.dtype)) {
    return Unsupported("an adapter can't be merged into \"" + tensor.name + "\", which is of the type " +
                       tensor.dtype_name);
  }
  if (tensor.shape == std::vector<int64_t>{update.rows, update.cols}) return OkStatus();
  const std::vector<int64_t> shape = {update.rows, update.cols};
  return Status(StatusCode::kShapeMismatch, "the adapter changes \"" + tensor.name + "\" as if it were of the shape " +
                                                ShapeString(shape) + "; it is " + ShapeString(tensor.shape));
}

Status LoraMerger::OnHeader(std::span<const TensorInfo> tensors) {
  tensors_.assign(tensors.begin(), tensors.end());
  if (!resolved_) {
    std::vector<std::string> names;
    for (const TensorInfo& tensor : tensors) names.push_back(tensor.name);
    PERUSE_RETURN_IF_ERROR(Resolve(names));
  }
  parts_.clear();
  reading_ = static_cast<size_t>(-1);
  std::vector<TensorInfo> header = tensors_;
  for (TensorInfo& tensor : header) {
    const Part part = parts_.emplace_back(PartOf(tensor.name));
    if (part.replaced != nullptr) {
      std::string name = std::move(tensor.name);
      tensor = part.replaced->info;
      tensor.name = std::move(name);
    } else if (part.update != nullptr) {
      PERUSE_RETURN_IF_ERROR(CheckUpdate(tensor, *part.update));
      tensor.dtype = DType::kF32;
      tensor.dtype_name = "F32";
      tensor.begin = 0;
      tensor.end = 4 * static_cast<uint64_t>(part.update->rows * part.update->cols);
      tensor.same_as.clear();
    }
  }
  for (const LoraTensor* tensor : added_) {
    header.push_back(tensor->info);
    parts_.push_back({nullptr, tensor});
  }
  added_.clear();
  PERUSE_RETURN_IF_ERROR(next_.OnHeader(header));
  for (size_t i = 0; i < parts_.size(); ++i) {
    const LoraTensor* tensor = parts_[i].replaced;
    if (tensor == nullptr || tensor->bytes.empty() || !next_.Wants(i)) continue;
    PERUSE_RETURN_IF_ERROR(next_.OnData(i, tensor->bytes));
  }
  return OkStatus();
}

Status LoraMerger::OnData(size_t index, std::span<const uint8_t> bytes) {
  const Part& part = parts_[index];
  if (part.replaced != nullptr) return OkStatus();
  if (part.update == nullptr) return next_.OnData(index, bytes);
  if (index != reading_) {
    reading_ = index;
    reader_ = std::make_unique<FloatReader>(
        *tensors_[index].dtype, part.update->rows, part.update->cols,
        [this, index](int32_t row, std::span<const float> values) { return Merge(index, row, values); });
  }
  return reader_->Feed(bytes);
}

Status LoraMerger::Merge(size_t index, int32_t row, std::span<const float> values) {
  const LoraUpdate& update = *parts_[index].update;
  const auto cols = static_cast<size_t>(update.cols);
  const auto rank = static_cast<size_t>(update.rank);
  merged_.assign(values.begin(), values.end());
  std::vector<double> sum(cols);
  for (size_t at = 0; at < merged_.size(); at += cols, ++row) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for (size_t k = 0; k < rank; ++k) {
      const auto factor = static_cast<double>(update.left[static_cast<size_t>(row) * rank + k]);
      for (size_t c = 0; c < cols; ++c) sum[c] += factor * static_cast<double>(update.right[k * cols + c]);
    }
    for (size_t c = 0; c < cols; ++c) {
      merged_[at + c] = static_cast<float>(static_cast<double>(merged_[at + c]) + update.scale * sum[c]);
    }
  }
  return next_.OnData(index, {reinterpret_cast<const uint8_t*>(merged_.data()), merged_.size() * sizeof(float)});
}

}  // namespace peruse

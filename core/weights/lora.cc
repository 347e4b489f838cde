#include "core/weights/lora.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/base/name_list.h"
#include "core/text/regex/regex_matcher.h"

namespace peruse {
namespace {

constexpr std::string_view kConfig = "adapter_config.json";
constexpr std::string_view kModelPrefix = "base_model.model.";
constexpr std::string_view kSaved = ".modules_to_save";
// Suffix of a module's copy from before training, which peft also saves. With bias "all" the file contains the copy's bias.
constexpr std::string_view kOriginal = ".original_module";

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

std::string CheckpointName(std::string_view name) {
  if (name.starts_with(kModelPrefix)) name.remove_prefix(kModelPrefix.size());
  std::string result(name);
  for (const std::string_view part :
       {std::string_view(".modules_to_save.default"), kSaved, std::string_view(".base_layer")}) {
    RemoveAll(&result, part);
  }
  return result;
}

// Returns the position of ".lora_A" and so on; npos for tensors that are saved whole.
size_t FindLora(std::string_view name) { return name.find(".lora_"); }

Status Twice(const std::string& one, const std::string& other) {
  return MalformedFile("the adapter holds \"" + one + "\" twice: as \"" + other + "\" too");
}

// Frees the bytes, so that the next tensor's numbers take their place. Numbers are copied without zeroing their memory first.
std::vector<float> TakeFloats(LoraTensor* tensor) {
  const std::vector<uint8_t> bytes = std::move(tensor->bytes);
  if (*tensor->info.dtype == DType::kF32) {
    const auto* const first = reinterpret_cast<const float*>(bytes.data());
    return {first, first + bytes.size() / sizeof(float)};
  }
  std::vector<float> values(bytes.size() / static_cast<size_t>(DTypeSize(*tensor->info.dtype)));
  ConvertToFloat(*tensor->info.dtype, bytes, values);
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
  // Rejects options that change the update or its target.
  for (const char* option :
       {"fan_in_fan_out", "layer_replication", "trainable_token_indices", "target_parameters", "use_qalora",
        "alora_invocation_tokens", "arrow_config", "kasa_config", "monteclora_config", "use_bdlora", "velora_config"}) {
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
  rank_ = root.FindMember("r").GetDouble();
  rank_stabilized_ = root.FindMember("use_rslora").GetBool().value_or(false);
  use_dora_ = root.FindMember("use_dora").GetBool().value_or(false);
  lora_bias_ = root.FindMember("lora_bias").GetBool().value_or(false);
  PERUSE_RETURN_IF_ERROR(ReadPatterns(root.FindMember("alpha_pattern"), "alpha_pattern", &alpha_patterns_));
  return ReadPatterns(root.FindMember("rank_pattern"), "rank_pattern", &rank_patterns_);
}

// Implements peft's get_pattern_key, re.match(rf"(.*\.)?({key})$", module): "$" is part of the expression, so matches cover the whole name.
Status LoraAdapter::ReadPatterns(JsonValue json, std::string_view name, std::vector<ModulePattern>* patterns) {
  for (size_t i = 0; i < json.size(); ++i) {
    const std::string key(json.MemberName(i));
    const std::optional<double> value = json.MemberValue(i).GetDouble();
    if (!value) {
      return MalformedFile(std::string(kConfig) + ": " + std::string(name) + " has no number for \"" + key + "\"");
    }
    Result<text::RegexProgram> expression = text::CompileRegex("(?:.*\\.)?(?:" + key + ")\\z");
    if (!expression.ok()) return NotMerged("the " + std::string(name) + " \"" + key + "\"");
    patterns->push_back({std::move(*expression), *value});
  }
  return OkStatus();
}

Result<double> LoraAdapter::Matching(const std::vector<ModulePattern>& patterns, std::string_view module,
                                     double otherwise) {
  for (const ModulePattern& pattern : patterns) {
    PERUSE_ASSIGN_OR_RETURN(const size_t end, text::RegexMatcher(pattern.expression, module).MatchAt(0));
    if (end == module.size()) return pattern.value;
  }
  return otherwise;
}

Result<double> LoraAdapter::ScaleOf(std::string_view module, int64_t rank) const {
  const auto r = static_cast<double>(rank);
  if (rank_) {
    PERUSE_ASSIGN_OR_RETURN(const double wanted, Matching(rank_patterns_, module, *rank_));
    if (wanted != r) {
      return Status(StatusCode::kShapeMismatch, "the adapter's factors for " + std::string(module) + " have the rank " +
                                                    std::to_string(rank) + ", and adapter_config.json says " +
                                                    std::to_string(static_cast<int64_t>(wanted)));
    }
  }
  PERUSE_ASSIGN_OR_RETURN(const double alpha, Matching(alpha_patterns_, module, alpha_));
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
  std::map<std::string, Factors> modules;
  for (LoraTensor& tensor : read_) {
    if (FindLora(tensor.info.name) != std::string::npos) PERUSE_RETURN_IF_ERROR(AddFactor(&tensor, &modules));
  }
  for (const auto& [module, factors] : modules) PERUSE_RETURN_IF_ERROR(MakeUpdate(module, factors));
  PERUSE_RETURN_IF_ERROR(TakeWhole());
  read_.clear();
  if (updates_.empty() && tensors_.empty()) return MalformedFile("the adapter holds no tensors");
  return OkStatus();
}

// Accepts ".lora_A.weight", ".lora_A.default.weight", ".lora_embedding_A", ".lora_embedding_A.default", ".lora_B.bias",
// ".lora_magnitude_vector", ".lora_magnitude_vector.default.weight".
Status LoraAdapter::AddFactor(LoraTensor* tensor, std::map<std::string, Factors>* modules) const {
  const std::string& name = tensor->info.name;
  const size_t at = FindLora(name);
  Factors& factors = (*modules)[CheckpointName(std::string_view(name).substr(0, at))];
  std::string_view kind = std::string_view(name).substr(at + 6);
  LoraTensor** place = nullptr;
  size_t dimensions = 2;
  if (kind.starts_with("embedding_")) {
    factors.embedding = true;
    kind.remove_prefix(10);
  }
  const std::string_view which = kind.substr(0, kind.find('.'));
  if (which == "A" && !kind.ends_with(".bias")) place = &factors.a;
  if (which == "B" && !kind.ends_with(".bias")) place = &factors.b;
  if (which == "B" && kind.ends_with(".bias") && lora_bias_) place = &factors.b_bias;
  if (which == "magnitude_vector" && use_dora_) place = &factors.magnitude;
  if (place == &factors.b_bias || place == &factors.magnitude) dimensions = 1;
  if (place == nullptr || tensor->info.shape.size() != dimensions) {
    return Unsupported("the adapter's tensor \"" + name + "\" " + ShapeString(tensor->info.shape) +
                       " is not supported: only linear layers and embeddings are merged");
  }
  if (*place != nullptr) return Twice((*place)->info.name, name);
  *place = tensor;
  return OkStatus();
}

// peft reads the plain name of a module that is saved whole; names with ".modules_to_save" only count if the plain one is missing.
Status LoraAdapter::TakeWhole() {
  std::map<std::string, LoraTensor*> whole;
  for (LoraTensor& tensor : read_) {
    const std::string& name = tensor.info.name;
    if (FindLora(name) != std::string::npos || name.find(kOriginal) != std::string::npos) continue;
    LoraTensor*& place = whole[CheckpointName(name)];
    const auto is_saved = [](const LoraTensor& one) { return one.info.name.find(kSaved) != std::string::npos; };
    if (place != nullptr && is_saved(*place) == is_saved(tensor)) return Twice(place->info.name, name);
    if (place == nullptr || is_saved(*place)) place = &tensor;
  }
  for (auto& [name, tensor] : whole) {
    const bool is_separate = tensor->info.name.find(kSaved) != std::string::npos;
    tensors_.push_back(std::move(*tensor));
    tensors_.back().info.name = name;
    tensors_.back().is_separate = is_separate;
  }
  return OkStatus();
}

// linear:    W [out, in] + B [out, r] A [r, in]; lora_bias adds B's bias [out] to the layer's bias
// embedding: W [tokens, width] + (B [width, r] A [r, tokens])^T
Status LoraAdapter::MakeUpdate(const std::string& module, const Factors& factors) {
  if (factors.a == nullptr || factors.b == nullptr) {
    return Status(StatusCode::kMissingTensor, "the adapter has but one factor for " + module);
  }
  const std::vector<int64_t>& a = factors.a->info.shape;
  const std::vector<int64_t>& b = factors.b->info.shape;
  if (a[0] != b[1] || a[0] == 0) {
    return Status(StatusCode::kShapeMismatch,
                  "the adapter's factors for " + module + " do not fit: " + ShapeString(a) + " and " + ShapeString(b));
  }
  if (use_dora_ && factors.embedding) return NotMerged("use_dora for the embedding " + module);
  if (use_dora_ && factors.magnitude == nullptr) {
    return Status(StatusCode::kMissingTensor, "the adapter has no lora_magnitude_vector for " + module);
  }
  if (lora_bias_ && !factors.embedding && factors.b_bias == nullptr) {
    return Status(StatusCode::kMissingTensor, "the adapter has no lora_B.bias for " + module);
  }
  for (const LoraTensor* vector : {factors.magnitude, factors.b_bias}) {
    if (vector == nullptr || vector->info.shape[0] == b[0]) continue;
    return Status(StatusCode::kShapeMismatch, "the adapter's tensor \"" + vector->info.name + "\" has " +
                                                  std::to_string(vector->info.shape[0]) + " numbers, and the layer " +
                                                  std::to_string(b[0]) + " rows");
  }
  PERUSE_RETURN_IF_ERROR(EnsureMemory(8 * static_cast<size_t>(a[0] * (a[1] + b[0]) + 2 * b[0]), "an adapter"));
  PERUSE_ASSIGN_OR_RETURN(const double scale, ScaleOf(module, a[0]));
  LoraUpdate& update = updates_.emplace_back();
  update.name = module + ".weight";
  update.rank = a[0];
  update.scale = scale;
  update.left = TakeFloats(factors.b);
  update.right = TakeFloats(factors.a);
  update.rows = b[0];
  update.cols = a[1];
  if (factors.magnitude != nullptr) update.magnitude = TakeFloats(factors.magnitude);
  if (factors.embedding) {
    std::swap(update.rows, update.cols);
    std::vector<float> left = Transposed(update.right, a[0], a[1]);
    update.right = Transposed(update.left, b[0], b[1]);
    update.left = std::move(left);
  }
  if (factors.b_bias != nullptr) {
    LoraUpdate& bias = updates_.emplace_back();
    bias.name = module + ".bias";
    bias.is_bias = true;
    bias.rows = b[0];
    bias.cols = bias.rank = 1;
    bias.scale = scale;
    bias.left = TakeFloats(factors.b_bias);
    bias.right = {1};
  }
  return OkStatus();
}

std::string_view LoraMerger::Bare(std::string_view name) const {
  for (const std::string& prefix : prefixes_) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

LoraMerger::LoraMerger(const LoraAdapter& adapter, std::vector<std::string> prefixes, TensorVisitor& next,
                       const Parameters* parameters, const cpu::ThreadPool* pool)
    : adapter_(adapter), prefixes_(std::move(prefixes)), next_(next), parameters_(parameters), pool_(pool) {
  for (const LoraUpdate& update : adapter_.updates()) part_of_[Bare(update.name)].update = &update;
  for (const LoraTensor& tensor : adapter_.tensors()) part_of_[Bare(tensor.info.name)].replaced = &tensor;
}

std::string_view LoraMerger::OtherName(std::string_view name, const std::set<std::string_view>& checkpoint) const {
  for (size_t i = 0; parameters_ != nullptr && i < parameters_->tensors.size(); ++i) {
    const std::vector<std::string>& names = parameters_->tensors[i].names;
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    const auto other =
        std::find_if(names.begin(), names.end(), [&](const auto& one) { return checkpoint.contains(one); });
    if (other != names.end()) return *other;
  }
  return {};
}

Status LoraMerger::Resolve(std::span<const std::string> names) {
  resolved_ = true;
  std::set<std::string_view> bare;
  for (const std::string& name : names) bare.insert(Bare(name));
  NameList missing;
  for (const LoraUpdate& update : adapter_.updates()) {
    if (bare.contains(Bare(update.name))) continue;
    if (update.is_bias) return NotMerged("lora_bias of a layer without a bias, such as " + update.name + ",");
    missing.Add(update.name);
  }
  if (!missing.empty()) {
    return Status(StatusCode::kMissingTensor,
                  "the adapter changes tensors that the checkpoint does not have: " + missing.Text());
  }
  for (const LoraTensor& tensor : adapter_.tensors()) {
    if (bare.contains(Bare(tensor.info.name))) continue;
    // Only biases of decoders have several names.
    const bool is_bias = tensor.info.shape.size() == 1;
    const std::string_view other = is_bias ? OtherName(Bare(tensor.info.name), bare) : std::string_view();
    if (other.empty()) {
      added_.push_back(&tensor);
    } else {
      part_of_[other].replaced = &tensor;
    }
  }
  return OkStatus();
}

Result<std::vector<std::string>> LoraMerger::SetNames(const std::vector<std::string>& names) {
  PERUSE_RETURN_IF_ERROR(Resolve(names));
  std::vector<std::string> all = names;
  for (const LoraTensor* tensor : added_) all.push_back(tensor->info.name);
  return all;
}

Status LoraMerger::CheckUpdate(const TensorInfo& tensor, const LoraUpdate& update) const {
  if (!tensor.dtype || !IsFloatDType(*tensor.dtype)) {
    return Unsupported("an adapter can't be merged into \"" + tensor.name + "\", which is of the type " +
                       tensor.dtype_name);
  }
  const std::vector<int64_t> shape = update.shape();
  if (tensor.shape == shape) return OkStatus();
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
    const auto found = part_of_.find(Bare(tensor.name));
    const Part part = parts_.emplace_back(found == part_of_.end() ? Part() : found->second);
    if (part.replaced != nullptr) {
      std::string name = std::move(tensor.name);
      tensor = part.replaced->info;
      tensor.name = std::move(name);
    }
    if (part.update != nullptr) {
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
    if (tensor != nullptr && !tensor->bytes.empty() && next_.Wants(i)) PERUSE_RETURN_IF_ERROR(SendWhole(i, *tensor));
  }
  return OkStatus();
}

Status LoraMerger::SendWhole(size_t index, const LoraTensor& tensor) {
  const LoraUpdate* const update = parts_[index].update;
  if (update == nullptr) return next_.OnData(index, tensor.bytes);
  PERUSE_ASSIGN_OR_RETURN(const std::unique_ptr<FloatReader> reader, ReaderOf(index, *tensor.info.dtype));
  return reader->Feed(tensor.bytes);
}

Result<std::unique_ptr<FloatReader>> LoraMerger::ReaderOf(size_t index, DType dtype) {
  const LoraUpdate& update = *parts_[index].update;
  const auto scale = static_cast<float>(update.scale);
  PERUSE_ASSIGN_OR_RETURN(sum_, cpu::LowRankSum::Create(update.right, update.rank, update.cols, scale, pool_));
  return std::make_unique<FloatReader>(
      dtype, update.rows, update.cols,
      [this, index](int32_t row, std::span<const float> values) { return Merge(index, row, values); });
}

Status LoraMerger::OnData(size_t index, std::span<const uint8_t> bytes) {
  const Part& part = parts_[index];
  if (part.replaced != nullptr) return OkStatus();
  if (part.update == nullptr) return next_.OnData(index, bytes);
  if (index != reading_) {
    reading_ = index;
    PERUSE_ASSIGN_OR_RETURN(reader_, ReaderOf(index, *tensors_[index].dtype));
  }
  return reader_->Feed(bytes);
}

Status LoraMerger::Merge(size_t index, int32_t row, std::span<const float> values) {
  const LoraUpdate& update = *parts_[index].update;
  const auto cols = static_cast<size_t>(update.cols);
  const auto rank = static_cast<size_t>(update.rank);
  const size_t count = values.size() / cols;
  merged_.resize(values.size());
  const float* const left = update.left.data() + static_cast<size_t>(row) * rank;
  sum_->Add(values.data(), left, static_cast<int64_t>(count), merged_.data());
  for (size_t r = 0; !update.magnitude.empty() && r < count; ++r) {
    const std::span<float> merged = std::span(merged_).subspan(r * cols, cols);
    double squares = 0;
    for (const float value : merged) squares += static_cast<double>(value) * static_cast<double>(value);
    const float factor = update.magnitude[static_cast<size_t>(row) + r] / static_cast<float>(std::sqrt(squares));
    for (float& value : merged) value *= factor;
  }
  return next_.OnData(index, {reinterpret_cast<const uint8_t*>(merged_.data()), merged_.size() * sizeof(float)});
}

}  // namespace peruse

#include "core/weights/safetensors.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/base/sort.h"

namespace peruse {
namespace {

constexpr size_t kLengthBytes = 8;

int DTypeBits(std::string_view name) {
  if (const std::optional<DType> dtype = ParseDType(name)) return 8 * DTypeSize(*dtype);
  if (name == "U64" || name == "C64") return 64;
  if (name == "U32") return 32;
  if (name == "U16") return 16;
  if (name == "F8_E4M3" || name == "F8_E5M2" || name == "F8_E8M0") return 8;
  if (name == "F6_E2M3" || name == "F6_E3M2") return 6;
  if (name == "F4") return 4;
  return 0;
}

Status Malformed(const std::string& what) { return MalformedFile("safetensors: " + what); }

Status BadTensor(const std::string& name, const std::string& what) {
  return Malformed("tensor \"" + name + "\" " + what);
}

std::optional<int64_t> GetCount(JsonValue value) {
  const std::optional<int64_t> count = value.GetInt64();
  return count && *count >= 0 ? count : std::nullopt;
}

Result<TensorInfo> ParseTensor(std::string_view name, JsonValue entry) {
  TensorInfo tensor;
  tensor.name = std::string(name);
  if (!entry.IsObject()) return BadTensor(tensor.name, "is not described by an object");

  const std::optional<std::string_view> dtype = entry.FindMember("dtype").GetString();
  if (!dtype) return BadTensor(tensor.name, "has no dtype");
  tensor.dtype_name = std::string(*dtype);
  tensor.dtype = ParseDType(*dtype);
  const int bits = DTypeBits(*dtype);
  if (bits == 0) {
    return Unsupported("safetensors: tensor \"" + tensor.name + "\" has the unknown dtype \"" + tensor.dtype_name +
                       "\"");
  }

  const JsonValue shape = entry.FindMember("shape");
  if (!shape.IsArray()) return BadTensor(tensor.name, "has no shape");
  for (const JsonValue size : shape) {
    const std::optional<int64_t> count = GetCount(size);
    if (!count) return BadTensor(tensor.name, "has the impossible shape " + shape.ToString());
    tensor.shape.push_back(*count);
  }

  const JsonValue offsets = entry.FindMember("data_offsets");
  const std::optional<int64_t> begin = GetCount(offsets[0]);
  const std::optional<int64_t> end = GetCount(offsets[1]);
  if (offsets.size() != 2 || !begin || !end || *begin > *end) {
    return BadTensor(tensor.name, "has impossible data_offsets " + offsets.ToString());
  }
  tensor.begin = static_cast<uint64_t>(*begin);
  tensor.end = static_cast<uint64_t>(*end);

  const std::optional<uint64_t> bytes = TensorBytes(tensor.shape, bits);
  if (!bytes || *bytes != tensor.bytes()) {
    return BadTensor(tensor.name, "of type " + tensor.dtype_name + " and shape " + ShapeString(tensor.shape) +
                                      " cannot have " + std::to_string(tensor.bytes()) + " bytes");
  }
  return tensor;
}

// Checks that sorted tensors follow one another without gaps, from byte 0 on.
Status CheckLayout(std::span<const TensorInfo> tensors) {
  uint64_t expected = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorInfo& tensor = tensors[i];
    if (tensor.begin < expected) {
      return BadTensor(tensor.name, "overlaps \"" + tensors[i - 1].name + "\"");
    }
    if (tensor.begin > expected) {
      return BadTensor(tensor.name, "starts at byte " + std::to_string(tensor.begin) +
                                        " after a hole that starts at byte " + std::to_string(expected));
    }
    expected = tensor.end;
  }
  return OkStatus();
}

Status CheckDuplicates(std::span<const TensorInfo> tensors) {
  std::set<std::string_view> names;
  for (const TensorInfo& tensor : tensors) {
    if (!names.insert(tensor.name).second) return BadTensor(tensor.name, "is described twice");
  }
  return OkStatus();
}

// safetensors' save_model stores tied tensors once and lists further names in the metadata: {"other name": "name of the tensor"}. Each such
// name becomes a tensor with the same bytes, after the stored one.
Status AddAliases(JsonValue metadata, std::vector<TensorInfo>* tensors) {
  std::map<std::string_view, size_t> index;
  for (size_t i = 0; i < tensors->size(); ++i) index.emplace((*tensors)[i].name, i);
  std::vector<std::vector<std::string_view>> aliases(tensors->size());
  bool any = false;
  for (size_t i = 0; metadata.IsObject() && i < metadata.size(); ++i) {
    const auto stored = index.find(metadata.MemberValue(i).GetString().value_or(""));
    if (stored == index.end() || index.contains(metadata.MemberName(i))) continue;
    aliases[stored->second].push_back(metadata.MemberName(i));
    any = true;
  }
  if (!any) return OkStatus();
  std::vector<TensorInfo> all;
  for (size_t i = 0; i < tensors->size(); ++i) {
    all.push_back((*tensors)[i]);
    for (const std::string_view alias : aliases[i]) {
      TensorInfo& tensor = all.emplace_back((*tensors)[i]);
      tensor.same_as = std::exchange(tensor.name, std::string(alias));
    }
  }
  *tensors = std::move(all);
  return CheckDuplicates(*tensors);
}

}  // namespace

Result<std::vector<TensorInfo>> ParseSafetensorsHeader(std::string_view json) {
  if (json.empty() || json.front() != '{') return Malformed("the header does not start with '{'");
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(json, "safetensors header"));
  const JsonValue root = document.root();
  const JsonValue metadata = root.FindMember("__metadata__");
  PERUSE_RETURN_IF_ERROR(EnsureTensorMemory(root.size() + metadata.size()));
  std::vector<TensorInfo> tensors;
  tensors.reserve(root.size());
  for (size_t i = 0; i < root.size(); ++i) {
    if (root.MemberName(i) == "__metadata__") continue;
    PERUSE_ASSIGN_OR_RETURN(TensorInfo tensor, ParseTensor(root.MemberName(i), root.MemberValue(i)));
    tensors.push_back(std::move(tensor));
  }
  PERUSE_RETURN_IF_ERROR(CheckDuplicates(tensors));
  HeapSort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  PERUSE_RETURN_IF_ERROR(CheckLayout(tensors));
  PERUSE_RETURN_IF_ERROR(AddAliases(metadata, &tensors));
  return tensors;
}

Status SafetensorsParser::Feed(std::span<const uint8_t> chunk) {
  if (failure_.ok()) failure_ = FeedChunk(chunk);
  return failure_;
}

Status SafetensorsParser::Finish() {
  if (failure_.ok()) failure_ = CheckEnd();
  return failure_;
}

Status SafetensorsParser::FeedChunk(std::span<const uint8_t> chunk) {
  while (!chunk.empty()) {
    switch (state_) {
      case State::kLength:
        PERUSE_RETURN_IF_ERROR(ReadLength(chunk));
        break;
      case State::kHeader:
        PERUSE_RETURN_IF_ERROR(ReadHeader(chunk));
        break;
      case State::kBody:
        PERUSE_RETURN_IF_ERROR(ReadBody(chunk));
        break;
    }
  }
  return OkStatus();
}

Status SafetensorsParser::ReadLength(std::span<const uint8_t>& chunk) {
  const size_t taken = std::min(chunk.size(), kLengthBytes - buffer_.size());
  buffer_.append(reinterpret_cast<const char*>(chunk.data()), taken);
  chunk = chunk.subspan(taken);
  if (buffer_.size() < kLengthBytes) return OkStatus();

  for (size_t i = 0; i < kLengthBytes; ++i) {
    header_bytes_ |= static_cast<uint64_t>(static_cast<uint8_t>(buffer_[i])) << (8 * i);
  }
  if (header_bytes_ > kMaxHeaderBytes) {
    return Malformed("a header of " + std::to_string(header_bytes_) +
                     " bytes is not plausible; is this a safetensors file?");
  }
  if (header_bytes_ < 2) return Malformed("the header is empty");
  buffer_.clear();
  state_ = State::kHeader;
  return OkStatus();
}

Status SafetensorsParser::ReadHeader(std::span<const uint8_t>& chunk) {
  // The buffer grows with the received bytes, not with the declared length.
  const size_t taken = static_cast<size_t>(std::min<uint64_t>(chunk.size(), header_bytes_ - buffer_.size()));
  buffer_.append(reinterpret_cast<const char*>(chunk.data()), taken);
  chunk = chunk.subspan(taken);
  if (buffer_.front() != '{') return Malformed("the header does not start with '{'; is this a safetensors file?");
  if (buffer_.size() < header_bytes_) return OkStatus();

  PERUSE_ASSIGN_OR_RETURN(tensors_, ParseSafetensorsHeader(buffer_));
  std::string().swap(buffer_);
  state_ = State::kBody;
  return visitor_.OnHeader(tensors_);
}

Status SafetensorsParser::ReadBody(std::span<const uint8_t>& chunk) {
  while (current_ < tensors_.size() && position_ == tensors_[current_].end) ++current_;
  if (current_ == tensors_.size()) {
    return Malformed("there are bytes after the last tensor, which ends at byte " + std::to_string(position_));
  }
  const size_t taken = static_cast<size_t>(std::min<uint64_t>(chunk.size(), tensors_[current_].end - position_));
  PERUSE_RETURN_IF_ERROR(PassOn(chunk.first(taken)));
  position_ += taken;
  chunk = chunk.subspan(taken);
  return OkStatus();
}

// A tensor may have several names (tied weights). The first wanted name receives bytes as they arrive; further names receive them when the
// tensor is complete.
Status SafetensorsParser::PassOn(std::span<const uint8_t> bytes) {
  std::vector<size_t> wanted;
  for (size_t i = current_; i == current_ || (i < tensors_.size() && !tensors_[i].same_as.empty()); ++i) {
    if (visitor_.Wants(i)) wanted.push_back(i);
  }
  PERUSE_RETURN_IF_ERROR(visitor_.OnData(wanted.empty() ? current_ : wanted.front(), bytes));
  if (wanted.size() < 2) return OkStatus();
  PERUSE_RETURN_IF_ERROR(EnsureMemory(shared_.size() + bytes.size(), "tensors that share their bytes"));
  shared_.insert(shared_.end(), bytes.begin(), bytes.end());
  if (position_ + bytes.size() < tensors_[current_].end) return OkStatus();
  for (size_t i = 1; i < wanted.size(); ++i) PERUSE_RETURN_IF_ERROR(visitor_.OnData(wanted[i], shared_));
  std::vector<uint8_t>().swap(shared_);
  return OkStatus();
}

Status SafetensorsParser::CheckEnd() const {
  const auto truncated = [](const std::string& what) {
    return Status(StatusCode::kTruncatedFile, "safetensors: the file ends " + what);
  };
  if (state_ == State::kLength)
    return truncated("after " + std::to_string(buffer_.size()) + " bytes, within its first 8");
  if (state_ == State::kHeader) {
    return truncated("within its header: " + std::to_string(buffer_.size()) + " of " + std::to_string(header_bytes_) +
                     " bytes");
  }
  for (size_t i = current_; i < tensors_.size(); ++i) {
    const TensorInfo& tensor = tensors_[i];
    if (position_ >= tensor.end) continue;
    return truncated("within tensor \"" + tensor.name + "\": " + std::to_string(position_ - tensor.begin) + " of " +
                     std::to_string(tensor.bytes()) + " bytes");
  }
  return OkStatus();
}

}  // namespace peruse

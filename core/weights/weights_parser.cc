#include "core/weights/weights_parser.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "core/weights/pytorch/legacy_parser.h"
#include "core/weights/pytorch/zip_parser.h"
#include "core/weights/safetensors.h"

namespace peruse {
namespace {

// Number of leading bytes that identify the format. In safetensors they are the length of the header, of which the last bytes are 0, unlike
// in other formats.
constexpr size_t kFirstBytes = 8;

uint64_t HeaderLength(std::span<const uint8_t> bytes) {
  uint64_t length = 0;
  for (size_t i = 0; i < kFirstBytes; ++i) length |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  return length;
}

// If the first 8 bytes are a number below this, the file counts as safetensors with too long a header, otherwise as another format.
constexpr uint64_t kLengthOfAHeader = uint64_t{1} << 40;

struct Foreign {
  std::string_view start;
  StatusCode code;
  std::string_view name;
};

using std::string_view_literals::operator""sv;
using enum StatusCode;

// Files that are not weights, although their names may suggest it, with the error for each.
constexpr Foreign kForeign[] = {
    {"version "sv, kMalformedFile, "a pointer of Git LFS, not the file itself: fetch it with git lfs pull"},
    {"\x89HDF\r\n\x1A\n"sv, kUnsupported, "HDF5 (Keras weights)"},
    {"{"sv, kMalformedFile, "JSON"},
    {"<"sv, kMalformedFile, "HTML or XML: is the address right?"},
    {"GGUF"sv, kUnsupported, "GGUF"},
    {"\x1F\x8B"sv, kUnsupported, "compressed by gzip"},
    {"storages"sv, kUnsupported, "a tar archive of PyTorch before 0.1.10"},
    {"tensors\0"sv, kUnsupported, "a tar archive of PyTorch before 0.1.10"},
    {"pickle\0"sv, kUnsupported, "a tar archive of PyTorch before 0.1.10"},
    {"\x80"sv, kUnsupported, "a pickle that is not a PyTorch file"},
};

Status RefuseForeign(std::string_view first, uint64_t header_length) {
  for (const Foreign& foreign : kForeign) {
    if (first.starts_with(foreign.start)) {
      return Status(foreign.code,
                    "the weights are neither safetensors nor a PyTorch file, but " + std::string(foreign.name));
    }
  }
  if (header_length < kLengthOfAHeader) {
    return MalformedFile("a safetensors header of " + std::to_string(header_length) + " bytes; at most " +
                         std::to_string(SafetensorsParser::kMaxHeaderBytes) + " are read");
  }
  return MalformedFile("the weights are neither safetensors nor a PyTorch file");
}

}  // namespace

Status WeightsParser::Feed(std::span<const uint8_t> chunk) {
  if (failure_.ok()) failure_ = FeedChunk(chunk);
  return failure_;
}

Status WeightsParser::Finish() {
  if (failure_.ok()) failure_ = FinishFile();
  return failure_;
}

Status WeightsParser::FeedChunk(std::span<const uint8_t> chunk) {
  if (chunk.empty()) return OkStatus();
  if (parser_) return parser_->Feed(chunk);
  const size_t taken = std::min(chunk.size(), kFirstBytes - first_.size());
  first_.insert(first_.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(taken));
  if (first_.size() < kFirstBytes) return OkStatus();
  PERUSE_RETURN_IF_ERROR(Choose());
  PERUSE_RETURN_IF_ERROR(parser_->Feed(first_));
  chunk = chunk.subspan(taken);
  return chunk.empty() ? OkStatus() : parser_->Feed(chunk);
}

Status WeightsParser::Choose() {
  const std::string_view first(reinterpret_cast<const char*>(first_.data()), first_.size());
  if (first.starts_with("PK\3\4")) {
    parser_ = std::make_unique<PytorchZipParser>(visitor_);
  } else if (HeaderLength(first_) <= SafetensorsParser::kMaxHeaderBytes) {
    parser_ = std::make_unique<SafetensorsParser>(visitor_);
  } else if (PytorchLegacyParser::Starts(first_)) {
    parser_ = std::make_unique<PytorchLegacyParser>(visitor_);
  } else {
    return RefuseForeign(first, HeaderLength(first_));
  }
  return OkStatus();
}

Status WeightsParser::FinishFile() {
  if (parser_) return parser_->Finish();
  return Status(StatusCode::kTruncatedFile, "the weights end after " + std::to_string(first_.size()) + " bytes");
}

}  // namespace peruse

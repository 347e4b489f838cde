#include "core/weights/pytorch/zip_parser.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "core/base/crc32.h"
#include "core/base/utf8.h"

namespace peruse {
namespace {

constexpr uint32_t kLocalSignature = 0x04034B50;
constexpr uint32_t kDescriptorSignature = 0x08074B50;
constexpr uint32_t kCentralSignature = 0x02014B50;
constexpr uint32_t kZip64EndSignature = 0x06064B50;
constexpr uint32_t kZip64LocatorSignature = 0x07064B50;
constexpr uint32_t kEndSignature = 0x06054B50;

constexpr size_t kLocalHeaderBytes = 26;
constexpr size_t kCentralEntryBytes = 42;
constexpr size_t kZip64LocatorBytes = 16;
constexpr size_t kEndBytes = 18;

constexpr size_t kShortDescriptorBytes = 16;
constexpr size_t kLongDescriptorBytes = 24;
constexpr uint64_t kInZip64 = 0xFFFFFFFF;  // marks a size that is in the zip64 extra field instead

uint64_t Read(std::span<const uint8_t> bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) value |= static_cast<uint64_t>(bytes[at + i]) << (8 * i);
  return value;
}
uint16_t Read16(std::span<const uint8_t> bytes, size_t at) { return static_cast<uint16_t>(Read(bytes, at, 2)); }
uint32_t Read32(std::span<const uint8_t> bytes, size_t at) { return static_cast<uint32_t>(Read(bytes, at, 4)); }
uint64_t Read64(std::span<const uint8_t> bytes, size_t at) { return Read(bytes, at, 8); }

Status Malformed(const std::string& what) { return MalformedFile("PyTorch file: " + what); }

// Whether the descriptor after `size` bytes of data has 32-bit sizes; otherwise they have 64 bits.
bool IsShortDescriptor(std::span<const uint8_t> bytes, uint64_t size) {
  return Read32(bytes, 8) == size && Read32(bytes, 12) == size;
}
bool IsLongDescriptor(std::span<const uint8_t> bytes, uint64_t size) {
  return Read64(bytes, 8) == size && Read64(bytes, 16) == size;
}

}  // namespace

Status PytorchZipParser::Feed(std::span<const uint8_t> chunk) {
  while (!chunk.empty()) {
    switch (state_) {
      case State::kPickle:
        PERUSE_RETURN_IF_ERROR(ReadPickle(chunk));
        break;
      case State::kStorage:
        PERUSE_RETURN_IF_ERROR(ReadStorage(chunk));
        break;
      case State::kOther:
        PERUSE_RETURN_IF_ERROR(ReadOther(chunk));
        break;
      case State::kSkip:
      case State::kComment: {
        const auto taken = static_cast<size_t>(std::min<uint64_t>(chunk.size(), skip_));
        skip_ -= taken;
        chunk = chunk.subspan(taken);
        if (skip_ > 0) break;
        if (state_ == State::kComment) {
          state_ = State::kDone;
        } else {
          Expect(State::kSignature, 4);
        }
        break;
      }
      case State::kDone:
        return Malformed("there are bytes after the end of the zip archive");
      case State::kSignature:
      case State::kLocalHeader:
      case State::kNames:
      case State::kDescriptor:
      case State::kCentralEntry:
      case State::kZip64End:
      case State::kZip64Locator:
      case State::kEnd: {
        const size_t taken = std::min(chunk.size(), wanted_ - buffer_.size());
        buffer_.insert(buffer_.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(taken));
        chunk = chunk.subspan(taken);
        if (buffer_.size() == wanted_) PERUSE_RETURN_IF_ERROR(OnCollected());
        break;
      }
    }
  }
  return OkStatus();
}

void PytorchZipParser::Expect(State state, size_t bytes) {
  state_ = state;
  wanted_ = bytes;
  buffer_.clear();
}

Status PytorchZipParser::OnCollected() {
  switch (state_) {
    case State::kSignature:
      return OnSignature();
    case State::kLocalHeader:
      return OnLocalHeader();
    case State::kNames:
      return OnNames();
    case State::kDescriptor:
      return OnDescriptor();
    case State::kCentralEntry:
      ++entries_;
      skip_ = uint64_t{Read16(buffer_, 24)} + Read16(buffer_, 26) + Read16(buffer_, 28);
      state_ = State::kSkip;
      return OkStatus();
    case State::kZip64End:
      skip_ = Read64(buffer_, 0);
      if (skip_ > kMaxOtherBytes) return Malformed("its zip archive has an end record of impossible length");
      state_ = State::kSkip;
      return OkStatus();
    case State::kZip64Locator:
      Expect(State::kSignature, 4);
      return OkStatus();
    case State::kEnd:
      return OnEnd();
    case State::kPickle:
    case State::kStorage:
    case State::kOther:
    case State::kSkip:
    case State::kComment:
    case State::kDone:
      PERUSE_CHECK(false);  // their bytes are not collected
      return OkStatus();
  }
}

Status PytorchZipParser::OnSignature() {
  const uint32_t signature = Read32(buffer_, 0);
  if (!in_directory_ && signature == kLocalSignature) {
    Expect(State::kLocalHeader, kLocalHeaderBytes);
    return OkStatus();
  }
  if (!in_directory_) PERUSE_RETURN_IF_ERROR(StartDirectory());
  switch (signature) {
    case kCentralSignature:
      Expect(State::kCentralEntry, kCentralEntryBytes);
      return OkStatus();
    case kZip64EndSignature:
      Expect(State::kZip64End, 8);
      return OkStatus();
    case kZip64LocatorSignature:
      Expect(State::kZip64Locator, kZip64LocatorBytes);
      return OkStatus();
    case kEndSignature:
      Expect(State::kEnd, kEndBytes);
      return OkStatus();
    default:
      return Malformed("its zip archive has no record where one should be, after \"" + record_.name + "\"");
  }
}

Status PytorchZipParser::OnLocalHeader() {
  const uint16_t flags = Read16(buffer_, 2);
  const uint16_t method = Read16(buffer_, 4);
  if ((flags & 1) != 0) return Unsupported("PyTorch file: its zip archive is encrypted");
  if (method != 0) {
    return Unsupported("PyTorch file: a record of its zip archive is compressed (method " + std::to_string(method) +
                       "), which PyTorch never does");
  }
  record_ = Record{};
  record_.sized = (flags & 8) == 0;
  record_.crc = Read32(buffer_, 10);
  record_.size = Read32(buffer_, 18);
  record_.name_bytes = Read16(buffer_, 22);
  record_.extra_bytes = Read16(buffer_, 24);
  if (record_.name_bytes == 0) return Malformed("its zip archive has a record without a name");
  Expect(State::kNames, record_.name_bytes + record_.extra_bytes);
  return OkStatus();
}

Status PytorchZipParser::OnNames() {
  const std::string_view name(reinterpret_cast<const char*>(buffer_.data()), record_.name_bytes);
  if (!IsValidUtf8(name)) return Malformed("its zip archive has a record whose name is not valid text");
  const std::span<const uint8_t> extra = std::span<const uint8_t>(buffer_).subspan(record_.name_bytes);
  if (record_.sized && record_.size == kInZip64) PERUSE_RETURN_IF_ERROR(ReadZip64Size(extra));
  const size_t slash = name.find('/');
  const std::string_view top = name.substr(0, slash);
  if (records_ == 0) top_ = top;
  if (slash == std::string_view::npos || top != top_) {
    return Unsupported("a zip archive with the record \"" + std::string(name) + "\" is no PyTorch file");
  }
  record_.name = name.substr(slash + 1);
  ++records_;
  buffer_.clear();
  return StartRecord();
}

Status PytorchZipParser::ReadZip64Size(std::span<const uint8_t> extra) {
  while (extra.size() >= 4) {
    const uint16_t id = Read16(extra, 0);
    const size_t size = Read16(extra, 2);
    if (size > extra.size() - 4) break;
    if (id == 1 && size >= 16) {
      record_.size = Read64(extra, 4);
      return OkStatus();
    }
    extra = extra.subspan(4 + size);
  }
  return Malformed("its zip archive has a record of unknown size");
}

Status PytorchZipParser::StartRecord() {
  constexpr std::string_view kData = "data/";
  const std::string& name = record_.name;
  if (name == "constants.pkl" || name.starts_with("code/")) {
    return Unsupported("PyTorch file: it is a TorchScript program, not a dictionary of tensors");
  }
  if (name == "data.pkl") {
    if (opened_) return Malformed("its zip archive has two records \"data.pkl\"");
    state_ = State::kPickle;
    return OkStatus();
  }
  if (!opened_) {
    return Unsupported("a zip archive whose first record is \"" + top_ + "/" + name +
                       "\" is no PyTorch file, or one that cannot be read as it arrives");
  }
  if (name.starts_with(kData) && name.size() > kData.size())
    return StartStorage(std::string_view(name).substr(kData.size()));
  if (record_.sized && record_.size > kMaxOtherBytes) {
    skip_ = record_.size;
    state_ = State::kSkip;  // the checksum does not matter, because the record is not needed
    return OkStatus();
  }
  state_ = State::kOther;
  return record_.sized && record_.size == 0 ? EndOther() : OkStatus();
}

Status PytorchZipParser::StartStorage(std::string_view key) {
  const std::optional<uint32_t> storage = storages_.Find(key);
  if (!storage)
    return Malformed("its zip archive has the storage \"" + std::string(key) + "\", which its pickle does not name");
  record_.storage = *storage;
  PERUSE_RETURN_IF_ERROR(storages_.Begin(*storage));
  state_ = State::kStorage;
  if (storages_.Bytes(*storage) > 0) return OkStatus();
  PERUSE_RETURN_IF_ERROR(storages_.End());
  return EndData();
}

void PytorchZipParser::Count(std::span<const uint8_t> bytes) {
  record_.read += bytes.size();
  record_.crc_read = Crc32(record_.crc_read, bytes);
}

Status PytorchZipParser::ReadPickle(std::span<const uint8_t>& chunk) {
  const std::span<const uint8_t> before = chunk;
  PERUSE_RETURN_IF_ERROR(pickle_.Feed(chunk));
  Count(before.first(before.size() - chunk.size()));
  if (!pickle_.done()) return OkStatus();
  PERUSE_RETURN_IF_ERROR(storages_.Open(pickle_));
  pickle_ = Pickle();
  opened_ = true;
  return EndData();
}

Status PytorchZipParser::ReadStorage(std::span<const uint8_t>& chunk) {
  const uint64_t bytes = storages_.Bytes(record_.storage);
  const std::span<const uint8_t> part =
      chunk.first(static_cast<size_t>(std::min<uint64_t>(chunk.size(), bytes - record_.read)));
  PERUSE_RETURN_IF_ERROR(storages_.Feed(part));
  Count(part);
  chunk = chunk.subspan(part.size());
  if (record_.read < bytes) return OkStatus();
  PERUSE_RETURN_IF_ERROR(storages_.End());
  return EndData();
}

// Reads a record that is neither pickle nor storage. If its header does not contain the length, the record ends at its data descriptor,
// which only its contents reveal.
Status PytorchZipParser::ReadOther(std::span<const uint8_t>& chunk) {
  while (!chunk.empty()) {
    buffer_.push_back(chunk.front());
    chunk = chunk.subspan(1);
    const std::span<const uint8_t> bytes(buffer_);
    if (record_.sized) {
      if (bytes.size() == record_.size) return EndOther();
      continue;
    }
    for (const size_t width : {kShortDescriptorBytes, kLongDescriptorBytes}) {
      if (bytes.size() < width) continue;
      const size_t size = bytes.size() - width;
      const std::span<const uint8_t> tail = bytes.subspan(size);
      if (Read32(tail, 0) != kDescriptorSignature) continue;
      if (width == kShortDescriptorBytes ? !IsShortDescriptor(tail, size) : !IsLongDescriptor(tail, size)) continue;
      // Extends the checksum up to the last position where a descriptor can start, and keeps it, so that many candidates do not take
      // quadratic time.
      const size_t sure = bytes.size() - std::min(bytes.size(), kLongDescriptorBytes);
      Count(bytes.subspan(static_cast<size_t>(record_.read), sure - static_cast<size_t>(record_.read)));
      if (Read32(tail, 4) != Crc32(record_.crc_read, bytes.subspan(sure, size - sure))) continue;
      buffer_.resize(size);
      return EndOther();
    }
    if (bytes.size() > kMaxOtherBytes) return Malformed("its zip archive has the long record \"" + record_.name + "\"");
  }
  return OkStatus();
}

Status PytorchZipParser::EndOther() {
  const std::string_view content(reinterpret_cast<const char*>(buffer_.data()), buffer_.size());
  if (record_.name == "byteorder" && content != "little") {
    return Unsupported("PyTorch file: it was written on a big-endian machine");
  }
  if (record_.sized && Crc32(0, buffer_) != record_.crc) return CheckRecord(buffer_.size(), record_.crc);
  Expect(State::kSignature, 4);
  return OkStatus();
}

Status PytorchZipParser::EndData() {
  if (!record_.sized) {
    Expect(State::kDescriptor, kShortDescriptorBytes);
    return OkStatus();
  }
  PERUSE_RETURN_IF_ERROR(CheckRecord(record_.size, record_.crc));
  Expect(State::kSignature, 4);
  return OkStatus();
}

Status PytorchZipParser::OnDescriptor() {
  const std::span<const uint8_t> bytes(buffer_);
  if (Read32(bytes, 0) != kDescriptorSignature) {
    return Malformed("the record \"" + record_.name + "\" is longer than its " + std::to_string(record_.read) +
                     " bytes");
  }
  const bool is_short = IsShortDescriptor(bytes, record_.read);
  if (!is_short && wanted_ == kShortDescriptorBytes) {
    wanted_ = kLongDescriptorBytes;
    return OkStatus();
  }
  const uint64_t size = is_short ? record_.read : Read64(bytes, 8);
  PERUSE_RETURN_IF_ERROR(CheckRecord(size, Read32(bytes, 4)));
  Expect(State::kSignature, 4);
  return OkStatus();
}

Status PytorchZipParser::CheckRecord(uint64_t size, uint32_t crc) const {
  if (size != record_.read) {
    return Malformed("the record \"" + record_.name + "\" should have " + std::to_string(size) + " bytes, not " +
                     std::to_string(record_.read));
  }
  if (crc != record_.crc_read)
    return Malformed("the record \"" + record_.name + "\" arrived damaged: its checksum is another");
  return OkStatus();
}

Status PytorchZipParser::StartDirectory() {
  in_directory_ = true;
  return storages_.CheckComplete();
}

Status PytorchZipParser::OnEnd() {
  constexpr uint16_t kMany = 0xFFFF;  // marks a number that is in the zip64 end record instead
  const uint16_t disk = Read16(buffer_, 0);
  const uint16_t entries = Read16(buffer_, 6);
  if (disk != 0 && disk != kMany) return Unsupported("PyTorch file: its zip archive has several parts");
  if (entries_ != records_ || (entries != kMany && entries != entries_)) {
    return Malformed("its zip archive has " + std::to_string(records_) + " records, and a directory of " +
                     std::to_string(entries_));
  }
  skip_ = Read16(buffer_, 16);
  state_ = skip_ > 0 ? State::kComment : State::kDone;
  return OkStatus();
}

Status PytorchZipParser::Finish() {
  if (state_ == State::kDone) return OkStatus();
  std::string where = "within its zip archive, after the record \"" + record_.name + "\"";
  if (state_ == State::kPickle)
    where = "within its list of tensors, after " + std::to_string(pickle_.bytes_read()) + " bytes of it";
  if (state_ == State::kStorage) {
    where = "within " + storages_.Describe(record_.storage) + ": " + std::to_string(record_.read) + " of " +
            std::to_string(storages_.Bytes(record_.storage)) + " bytes of its storage";
  }
  return Status(StatusCode::kTruncatedFile, "PyTorch file: it ends " + where);
}

}  // namespace peruse

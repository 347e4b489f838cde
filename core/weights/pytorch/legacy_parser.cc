#include "core/weights/pytorch/legacy_parser.h"

#include <algorithm>
#include <optional>
#include <string>

namespace peruse {
namespace {

using Kind = PickleValue::Kind;

// The pickle of the magic number: PROTO 2, LONG1 of 10 bytes, STOP. Other integers in such files have at most 8 bytes.
constexpr uint8_t kMagic[] = {0x80, 0x02, 0x8A, 0x0A, 0x6C, 0xFC, 0x9C, 0x46, 0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19, '.'};
constexpr int64_t kProtocol = 1001;
constexpr size_t kCountBytes = 8;

Status Malformed(const std::string& what) { return MalformedFile("PyTorch file (legacy form): " + what); }

}  // namespace

bool PytorchLegacyParser::Starts(std::span<const uint8_t> first) {
  return std::equal(first.begin(), first.end(), std::begin(kMagic));
}

Status PytorchLegacyParser::Feed(std::span<const uint8_t> chunk) {
  while (!chunk.empty()) {
    switch (state_) {
      case State::kMagic:
        PERUSE_RETURN_IF_ERROR(ReadMagic(chunk));
        break;
      case State::kCount:
        PERUSE_RETURN_IF_ERROR(ReadCount(chunk));
        break;
      case State::kData:
        PERUSE_RETURN_IF_ERROR(ReadData(chunk));
        break;
      case State::kDone:
        return Malformed("there are bytes after the last storage");
      case State::kProtocol:
      case State::kMachine:
      case State::kTensors:
      case State::kKeys:
        PERUSE_RETURN_IF_ERROR(ReadPickle(chunk));
        break;
    }
  }
  return OkStatus();
}

Status PytorchLegacyParser::ReadMagic(std::span<const uint8_t>& chunk) {
  for (; magic_read_ < std::size(kMagic) && !chunk.empty(); chunk = chunk.subspan(1), ++magic_read_) {
    if (chunk.front() != kMagic[magic_read_]) return Malformed("it does not start with PyTorch's magic number");
  }
  if (magic_read_ == std::size(kMagic)) state_ = State::kProtocol;
  return OkStatus();
}

Status PytorchLegacyParser::ReadPickle(std::span<const uint8_t>& chunk) {
  PERUSE_RETURN_IF_ERROR(pickle_.Feed(chunk));
  if (!pickle_.done()) return OkStatus();
  PERUSE_RETURN_IF_ERROR(OnPickle());
  pickle_ = Pickle();
  return OkStatus();
}

Status PytorchLegacyParser::OnPickle() {
  switch (state_) {
    case State::kProtocol:
      if (!pickle_.root().is(Kind::kInt) || pickle_.root().number != kProtocol) {
        return Unsupported("PyTorch file (legacy form): its version is not 1001");
      }
      state_ = State::kMachine;
      return OkStatus();
    case State::kMachine:
      state_ = State::kTensors;
      return CheckMachine();
    case State::kTensors:
      state_ = State::kKeys;
      return storages_.Open(pickle_);
    case State::kKeys:
      return OnKeys();
    case State::kMagic:
    case State::kCount:
    case State::kData:
    case State::kDone:
      PERUSE_CHECK(false);  // they read no pickle
      return OkStatus();
  }
  return OkStatus();
}

Status PytorchLegacyParser::CheckMachine() const {
  if (!pickle_.root().is(Kind::kDict)) return Malformed("it does not say on what machine it was written");
  bool little = false;
  for (const auto& [key, value] : pickle_.Dict(pickle_.root())) {
    if (key.is(Kind::kString) && pickle_.String(key) == "little_endian")
      little = value.is(Kind::kBool) && value.number == 1;
  }
  return little ? OkStatus() : Unsupported("PyTorch file (legacy form): it was written on a big-endian machine");
}

Status PytorchLegacyParser::OnKeys() {
  const PickleValue& root = pickle_.root();
  if (!root.is(Kind::kList)) return Malformed("it lacks the list of its storages");
  for (const PickleValue& key : pickle_.List(root)) {
    const std::optional<uint32_t> storage = key.is(Kind::kString) ? storages_.Find(pickle_.String(key)) : std::nullopt;
    if (!storage) return Malformed("it lists a storage that no tensor names");
    keys_.push_back(*storage);
  }
  NextStorage();
  return state_ == State::kDone ? storages_.CheckComplete() : OkStatus();
}

void PytorchLegacyParser::NextStorage() {
  count_.clear();
  read_ = 0;
  state_ = next_ < keys_.size() ? State::kCount : State::kDone;
}

Status PytorchLegacyParser::ReadCount(std::span<const uint8_t>& chunk) {
  const size_t taken = std::min(chunk.size(), kCountBytes - count_.size());
  count_.insert(count_.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(taken));
  chunk = chunk.subspan(taken);
  if (count_.size() < kCountBytes) return OkStatus();
  uint64_t elements = 0;
  for (size_t i = 0; i < kCountBytes; ++i) elements |= static_cast<uint64_t>(count_[i]) << (8 * i);
  const uint32_t storage = keys_[next_];
  if (elements != static_cast<uint64_t>(storages_.Elements(storage))) {
    return Malformed("the storage of " + storages_.Describe(storage) + " has " + std::to_string(elements) +
                     " elements instead of " + std::to_string(storages_.Elements(storage)));
  }
  PERUSE_RETURN_IF_ERROR(storages_.Begin(storage));
  state_ = State::kData;
  std::span<const uint8_t> nothing;
  return elements == 0 ? ReadData(nothing) : OkStatus();
}

Status PytorchLegacyParser::ReadData(std::span<const uint8_t>& chunk) {
  const uint64_t bytes = storages_.Bytes(keys_[next_]);
  const auto taken = static_cast<size_t>(std::min<uint64_t>(chunk.size(), bytes - read_));
  PERUSE_RETURN_IF_ERROR(storages_.Feed(chunk.first(taken)));
  read_ += taken;
  chunk = chunk.subspan(taken);
  if (read_ < bytes) return OkStatus();
  PERUSE_RETURN_IF_ERROR(storages_.End());
  ++next_;
  NextStorage();
  return state_ == State::kDone ? storages_.CheckComplete() : OkStatus();
}

Status PytorchLegacyParser::Finish() {
  if (state_ == State::kDone) return OkStatus();
  std::string where = "before its last storage";
  if (state_ < State::kCount) where = "within its list of tensors";
  if (state_ == State::kData) {
    where = "within " + storages_.Describe(keys_[next_]) + ": " + std::to_string(read_) + " of " +
            std::to_string(storages_.Bytes(keys_[next_])) + " bytes of its storage";
  }
  return Status(StatusCode::kTruncatedFile, "PyTorch file (legacy form): it ends " + where);
}

}  // namespace peruse

#include "core/weights/pytorch/storage_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "core/base/memory.h"

namespace peruse {
namespace {

constexpr size_t kGatherBytes = size_t{16} << 10;

}  // namespace

Status StorageReader::Open(const Pickle& pickle) {
  PERUSE_ASSIGN_OR_RETURN(tensors_, ReadStateDict(pickle));
  std::vector<TensorInfo> header;
  header.reserve(tensors_.size());
  for (const StateTensor& tensor : tensors_) header.push_back(tensor.info);
  PERUSE_RETURN_IF_ERROR(visitor_.OnHeader(header));

  for (const PickleStorage& storage : pickle.storages()) {
    by_key_.emplace(storage.key, static_cast<uint32_t>(storages_.size()));
    storages_.push_back({.key = storage.key, .elements = storage.elements, .bytes = *StorageBytes(storage)});
  }
  for (uint32_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].info.bytes() > 0 && visitor_.Wants(i)) storages_[tensors_[i].storage].tensors.push_back(i);
  }
  for (Storage& storage : storages_) {
    // Sorts with HeapSort, which takes the least code.
    const auto before = [this](uint32_t a, uint32_t b) {
      return tensors_[a].begin != tensors_[b].begin ? tensors_[a].begin < tensors_[b].begin : a < b;
    };
    std::make_heap(storage.tensors.begin(), storage.tensors.end(), before);
    std::sort_heap(storage.tensors.begin(), storage.tensors.end(), before);
  }
  return OkStatus();
}

std::optional<uint32_t> StorageReader::Find(std::string_view key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? std::nullopt : std::optional(found->second);
}

Status StorageReader::Begin(uint32_t index) {
  Storage& storage = storages_[index];
  if (storage.came) return MalformedFile("PyTorch file: the data of " + Describe(index) + " come twice");
  storage.came = true;
  current_ = index;
  position_ = 0;
  kept_.clear();
  Plan(storage);
  return OkStatus();
}

void StorageReader::Plan(const Storage& storage) {
  passing_.clear();
  waiting_.clear();
  next_ = 0;
  kept_begin_ = std::numeric_limits<uint64_t>::max();
  kept_end_ = 0;
  uint64_t end = 0;  // end of the last tensor in passing_
  for (const uint32_t index : storage.tensors) {
    const StateTensor& tensor = tensors_[index];
    if (tensor.strides.empty() && tensor.begin >= end) {
      passing_.push_back(index);
      end = tensor.end;
      continue;
    }
    waiting_.push_back(index);
    kept_begin_ = std::min(kept_begin_, tensor.begin);
    kept_end_ = std::max(kept_end_, tensor.end);
  }
}

Status StorageReader::Feed(std::span<const uint8_t> bytes) {
  PERUSE_RETURN_IF_ERROR(Pass(bytes));
  PERUSE_RETURN_IF_ERROR(Keep(bytes));
  position_ += bytes.size();
  return OkStatus();
}

Status StorageReader::Pass(std::span<const uint8_t> bytes) {
  const uint64_t feed_end = position_ + bytes.size();
  for (; next_ < passing_.size(); ++next_) {
    const StateTensor& tensor = tensors_[passing_[next_]];
    const uint64_t begin = std::max(tensor.begin, position_);
    const uint64_t end = std::min(tensor.end, feed_end);
    if (begin >= end) return OkStatus();
    PERUSE_RETURN_IF_ERROR(visitor_.OnData(
        passing_[next_], bytes.subspan(static_cast<size_t>(begin - position_), static_cast<size_t>(end - begin))));
    if (tensor.end > feed_end) return OkStatus();
  }
  return OkStatus();
}

Status StorageReader::Keep(std::span<const uint8_t> bytes) {
  const uint64_t begin = std::max(kept_begin_, position_);
  const uint64_t end = std::min<uint64_t>(kept_end_, position_ + bytes.size());
  if (begin >= end) return OkStatus();
  const auto size = static_cast<size_t>(end - begin);
  if (kept_.capacity() - kept_.size() < size) {
    // The buffer grows with the received bytes, not with the size that the file declares.
    const size_t capacity = std::max(2 * kept_.capacity(), kept_.size() + size);
    PERUSE_RETURN_IF_ERROR(EnsureMemory(capacity, "a tensor that lies scattered in its file"));
    kept_.reserve(capacity);
  }
  const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(begin - position_);
  kept_.insert(kept_.end(), first, first + static_cast<std::ptrdiff_t>(size));
  return OkStatus();
}

Status StorageReader::End() {
  for (const uint32_t index : waiting_) {
    const StateTensor& tensor = tensors_[index];
    const auto bytes = std::span<const uint8_t>(kept_).subspan(static_cast<size_t>(tensor.begin - kept_begin_),
                                                               static_cast<size_t>(tensor.end - tensor.begin));
    PERUSE_RETURN_IF_ERROR(tensor.strides.empty() ? visitor_.OnData(index, bytes) : Gather(tensor, index));
  }
  std::vector<uint8_t>().swap(kept_);
  return OkStatus();
}

Status StorageReader::Gather(const StateTensor& tensor, uint32_t index) {
  const std::vector<int64_t>& shape = tensor.info.shape;
  const auto element = static_cast<size_t>(DTypeSize(*tensor.info.dtype));
  std::array<uint8_t, kGatherBytes> piece;
  size_t filled = 0;
  std::vector<int64_t> at(shape.size(), 0);
  const uint8_t* source = kept_.data() + (tensor.begin - kept_begin_);
  for (uint64_t left = tensor.info.bytes(); left > 0; left -= element) {
    std::memcpy(piece.data() + filled, source, element);
    filled += element;
    if (filled == piece.size() || left == element) {
      PERUSE_RETURN_IF_ERROR(visitor_.OnData(index, std::span(piece).first(filled)));
      filled = 0;
    }
    for (size_t i = shape.size(); i-- > 0;) {
      const auto stride = static_cast<std::ptrdiff_t>(element) * static_cast<std::ptrdiff_t>(tensor.strides[i]);
      if (++at[i] < shape[i]) {
        source += stride;
        break;
      }
      source -= stride * static_cast<std::ptrdiff_t>(shape[i] - 1);
      at[i] = 0;
    }
  }
  return OkStatus();
}

Status StorageReader::CheckComplete() const {
  for (uint32_t i = 0; i < storages_.size(); ++i) {
    if (!storages_[i].came && storages_[i].bytes > 0 && !storages_[i].tensors.empty()) {
      return MalformedFile("PyTorch file: it holds no data for " + Describe(i));
    }
  }
  return OkStatus();
}

std::string StorageReader::Describe(uint32_t storage) const {
  const std::vector<uint32_t>& tensors = storages_[storage].tensors;
  if (tensors.empty()) return "a storage that no tensor needs";
  return "tensor \"" + tensors_[tensors.front()].info.name + "\"";
}

}  // namespace peruse

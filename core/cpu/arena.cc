#include "core/cpu/arena.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "core/base/status.h"
#include "core/cpu/block.h"

namespace peruse::cpu {
namespace {

constexpr int64_t kSmallestBlock = int64_t{1} << 18;

}  // namespace

AlignedBytes AllocateAligned(int64_t bytes) {
  constexpr int64_t kLargest = std::min<int64_t>(std::numeric_limits<ptrdiff_t>::max() - kOverread, int64_t{1} << 40);
  if (bytes < 0 || bytes > kLargest) return nullptr;
  void* p = ::operator new(static_cast<size_t>(bytes + kOverread), std::align_val_t{kAlignment}, std::nothrow);
  return AlignedBytes(static_cast<std::byte*>(p));
}

void Arena::Reset() { Pop(0); }

bool Arena::AddBlock(int64_t bytes) {
  AlignedBytes memory = AllocateAligned(bytes);
  if (!memory) return false;
  blocks_.push_back({std::move(memory), bytes});
  return true;
}

bool Arena::Push(int64_t bytes) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max() / 4;
  Buffer top = buffers_.empty() ? Buffer() : buffers_.back();
  top.data = nullptr;
  if (bytes < 0 || bytes > kLargest) {
    buffers_.push_back(top);
    return false;
  }
  const int64_t size = RoundUp(bytes + kOverread, kAlignment);
  // Finds the first block with enough space, from the top block on. Blocks above it are empty.
  size_t block = top.block;
  int64_t begin = top.end;
  while (block < blocks_.size() && begin + size > blocks_[block].size) {
    ++block;
    begin = 0;
  }
  if (block == blocks_.size() && !AddBlock(std::max({size, kSmallestBlock, peak_ / 2}))) {
    if (!AddBlock(size)) {
      buffers_.push_back(top);
      return false;
    }
  }
  const Buffer buffer{blocks_[block].bytes.get() + begin, block, begin + size, top.live + size};
  buffers_.push_back(buffer);
  peak_ = std::max(peak_, buffer.live);
  return true;
}

void Arena::Pop(int64_t size) {
  PERUSE_CHECK(size >= 0 && size <= this->size());
  buffers_.resize(static_cast<size_t>(size));
  if (size > 0 || (blocks_.size() == 1 && blocks_[0].size >= peak_)) return;
  blocks_.clear();
  if (peak_ > 0) AddBlock(peak_);
}

int64_t Arena::capacity() const {
  int64_t bytes = 0;
  for (const Block& block : blocks_) bytes += block.size;
  return bytes;
}

}  // namespace peruse::cpu

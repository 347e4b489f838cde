// Memory of the CPU backend: aligned buffers that allow a small over-read, and the workspace of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace peruse::xnnpack {

// XNNPACK's kernels may read up to 16 bytes past a row's end; our whole vectors stay within this limit too.
inline constexpr int64_t kAlignment = 64;
inline constexpr int64_t kOverread = 64;

struct AlignedDelete {
  void operator()(void* p) const { ::operator delete(p, std::align_val_t{kAlignment}); }
};
using AlignedBytes = std::unique_ptr<std::byte[], AlignedDelete>;

// Allocates `bytes` uninitialised bytes, followed by kOverread readable ones; nullptr when memory runs out.
AlignedBytes AllocateAligned(int64_t bytes);

// A stack of buffers. The first run allocates block by block. Popping its last buffer replaces the blocks by one of the largest run's size,
// so that warm runs do not allocate.
class Arena {
 public:
  void Reset();

  // Pushes an uninitialised buffer; indices count from 0. Returns false when memory runs out; the index is still used, with null data().
  bool Push(int64_t bytes);

  int64_t size() const { return static_cast<int64_t>(buffers_.size()); }
  // Pops down to `size` buffers. Popping the last one allocates one block for the largest run so far. Never fails: Push retries failed
  // allocations.
  void Pop(int64_t size);

  std::byte* data(int64_t index) const { return buffers_[static_cast<size_t>(index)].data; }
  // Bytes allocated.
  int64_t capacity() const;

 private:
  struct Block {
    AlignedBytes bytes;
    int64_t size = 0;
  };
  struct Buffer {
    std::byte* data = nullptr;
    size_t block = 0;  // its block
    int64_t end = 0;   // its end within the block
    int64_t live = 0;  // live bytes of the arena up to this buffer
  };

  bool AddBlock(int64_t bytes);

  std::vector<Block> blocks_;
  std::vector<Buffer> buffers_;
  int64_t peak_ = 0;  // maximum live bytes of any run so far
};

}  // namespace peruse::xnnpack

// Memory of the CPU backend: aligned buffers that may be over-read a little, and the workspace of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace peruse::xnnpack {

// XNNPACK's kernels may read up to 16 bytes past a row's end; whole vectors of ours stay within this too.
inline constexpr int64_t kAlignment = 64;
inline constexpr int64_t kOverread = 64;

struct AlignedDelete {
  void operator()(void* p) const { ::operator delete(p, std::align_val_t{kAlignment}); }
};
using AlignedBytes = std::unique_ptr<std::byte[], AlignedDelete>;

// `bytes` uninitialised bytes and kOverread readable ones after them; null if there is no memory.
AlignedBytes AllocateAligned(int64_t bytes);

// A stack of buffers. The first run allocates block by block; once its last buffer is popped one block, as large as the
// largest run so far, holds everything, so that a warm run allocates nothing.
class Arena {
 public:
  // Gives every buffer back: Pop(0).
  void Reset();

  // An uninitialised buffer on top of the stack; its index counts from 0. False without memory: the index is taken
  // all the same, and data() of it is null.
  bool Push(int64_t bytes);

  int64_t size() const { return static_cast<int64_t>(buffers_.size()); }
  // Pops down to `size` buffers. With the last one it makes room for the largest run so far in one block. Never fails: what
  // cannot be had now is asked for again by Push.
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
    size_t block = 0;  // the block it is in
    int64_t end = 0;   // its end within the block
    int64_t live = 0;  // bytes live in the arena with it
  };

  bool AddBlock(int64_t bytes);

  std::vector<Block> blocks_;
  std::vector<Buffer> buffers_;
  int64_t peak_ = 0;  // bytes live at once, in the largest run so far
};

}  // namespace peruse::xnnpack

// Memory of the CPU backend: aligned buffers that allow small over-reads, and the workspace of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace peruse::cpu {

// XNNPACK's kernels may read up to 16 bytes past the end of a row. Whole vectors of our kernels stay within that limit.
inline constexpr int64_t kAlignment = 64;
inline constexpr int64_t kOverread = 64;

struct AlignedDelete {
  void operator()(void* p) const { ::operator delete(p, std::align_val_t{kAlignment}); }
};
using AlignedBytes = std::unique_ptr<std::byte[], AlignedDelete>;

// Allocates `bytes` uninitialised bytes, followed by kOverread readable bytes. Returns nullptr if memory runs out.
AlignedBytes AllocateAligned(int64_t bytes);

// A stack of buffers. The first run allocates block by block. When the stack becomes empty, one block of the largest size so far replaces
// all blocks, so that later runs do not allocate.
class Arena {
 public:
  void Reset();

  // Pushes an uninitialised buffer, number 0 on an empty stack. Returns false if memory runs out; its data() is then null.
  bool Push(int64_t bytes);

  int64_t size() const { return static_cast<int64_t>(buffers_.size()); }
  // Pops buffers until `size` are left. Popping the last one allocates a block for the largest run; if that fails, Push tries again.
  void Pop(int64_t size);

  std::byte* data(int64_t index) const { return buffers_[static_cast<size_t>(index)].data; }
  int64_t capacity() const;

 private:
  struct Block {
    AlignedBytes bytes;
    int64_t size = 0;
  };
  struct Buffer {
    std::byte* data = nullptr;
    size_t block = 0;  // the block that contains this buffer
    int64_t end = 0;
    int64_t live = 0;  // live bytes of the arena up to and including this buffer
  };

  bool AddBlock(int64_t bytes);

  std::vector<Block> blocks_;
  std::vector<Buffer> buffers_;
  int64_t peak_ = 0;  // largest number of live bytes in any run so far
};

}  // namespace peruse::cpu

// Hands the bytes of a PyTorch file's storages, as they come, to the tensors that are cut from them.
//
// Several tensors may lie in one storage, and share bytes of it (tied weights): each gets its own, one tensor at a time. A
// tensor whose elements do not follow one another, or that shares bytes with one before it, waits until its storage has come,
// of which only that part is kept that such tensors need. What nobody wants costs nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/weights/pytorch/pickle.h"
#include "core/weights/pytorch/state_dict.h"
#include "core/weights/tensor_info.h"

namespace peruse {

class StorageReader {
 public:
  // `visitor` outlives this.
  explicit StorageReader(TensorVisitor& visitor) : visitor_(visitor) {}

  // Finds the tensors and tells the visitor. Errors: those of ReadStateDict, and the visitor's.
  Status Open(const Pickle& pickle);

  // By its key; nothing for a storage that the pickle does not name.
  std::optional<uint32_t> Find(std::string_view key) const;
  uint64_t Bytes(uint32_t storage) const { return storages_[storage].bytes; }
  int64_t Elements(uint32_t storage) const { return storages_[storage].elements; }

  // A storage's bytes, exactly Bytes() of them, between Begin and End. kMalformedFile if it came before.
  Status Begin(uint32_t storage);
  Status Feed(std::span<const uint8_t> bytes);
  Status End();

  // Whether every storage has come that a tensor needs; kMalformedFile names a tensor that got nothing.
  Status CheckComplete() const;
  // 'tensor "a.b.weight"', or what else a storage is, for messages.
  std::string Describe(uint32_t storage) const;

 private:
  struct Storage {
    std::string key;
    int64_t elements = 0;
    uint64_t bytes = 0;
    std::vector<uint32_t> tensors;  // that are wanted, by their first byte
    bool came = false;
  };

  // Sorts the tensors of a storage into passing_ and waiting_.
  void Plan(const Storage& storage);
  Status Pass(std::span<const uint8_t> bytes);
  Status Keep(std::span<const uint8_t> bytes);
  Status Gather(const StateTensor& tensor, uint32_t index);

  TensorVisitor& visitor_;
  std::vector<StateTensor> tensors_;
  std::vector<Storage> storages_;
  std::map<std::string, uint32_t, std::less<>> by_key_;

  // The storage being read.
  uint32_t current_ = 0;
  uint64_t position_ = 0;
  std::vector<uint32_t> passing_;  // tensors that take their bytes as they come, in their order
  size_t next_ = 0;                // of passing_: the first that has not all of its bytes
  std::vector<uint32_t> waiting_;  // tensors that take theirs at the end
  uint64_t kept_begin_ = 0;        // the part that they need
  uint64_t kept_end_ = 0;
  std::vector<uint8_t> kept_;
};

}  // namespace peruse

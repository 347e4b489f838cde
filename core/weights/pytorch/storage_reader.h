// Passes the bytes of a PyTorch file's storages to their tensors as they arrive.
//
// Several tensors may view one storage and share bytes (tied weights); each receives its own, one tensor at a time. A tensor with
// non-consecutive elements, or one that shares bytes with a preceding tensor, waits until its storage is complete; only the part of the
// storage that such tensors need is buffered. Unwanted tensors cost nothing.
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

  // Finds the tensors and reports them to the visitor. Errors: those of ReadStateDict and of the visitor.
  Status Open(const Pickle& pickle);

  // Finds a storage by key; nullopt if the pickle does not name it.
  std::optional<uint32_t> Find(std::string_view key) const;
  uint64_t Bytes(uint32_t storage) const { return storages_[storage].bytes; }
  int64_t Elements(uint32_t storage) const { return storages_[storage].elements; }

  // Begin, then exactly Bytes() bytes of the storage, then End. Errors: kMalformedFile if the storage is repeated.
  Status Begin(uint32_t storage);
  Status Feed(std::span<const uint8_t> bytes);
  Status End();

  // Checks that every needed storage has arrived. Errors: kMalformedFile names a tensor without data.
  Status CheckComplete() const;
  // 'tensor "a.b.weight"', or another description of a storage, for messages.
  std::string Describe(uint32_t storage) const;

 private:
  struct Storage {
    std::string key;
    int64_t elements = 0;
    uint64_t bytes = 0;
    std::vector<uint32_t> tensors;  // wanted tensors, by their first byte
    bool came = false;
  };

  // Splits the tensors of a storage into passing_ and waiting_.
  void Plan(const Storage& storage);
  Status Pass(std::span<const uint8_t> bytes);
  Status Keep(std::span<const uint8_t> bytes);
  Status Gather(const StateTensor& tensor, uint32_t index);

  TensorVisitor& visitor_;
  std::vector<StateTensor> tensors_;
  std::vector<Storage> storages_;
  std::map<std::string, uint32_t, std::less<>> by_key_;

  // The current storage.
  uint32_t current_ = 0;
  uint64_t position_ = 0;
  std::vector<uint32_t> passing_;  // tensors that receive bytes as they arrive, in order
  size_t next_ = 0;                // index in passing_ of the first incomplete tensor
  std::vector<uint32_t> waiting_;  // tensors that receive their bytes at the end
  uint64_t kept_begin_ = 0;        // the buffered part, for waiting_
  uint64_t kept_end_ = 0;
  std::vector<uint8_t> kept_;
};

}  // namespace peruse

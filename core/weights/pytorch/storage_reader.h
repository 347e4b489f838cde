// Passes the bytes of a PyTorch file's storages to tensors as they arrive. Several tensors may share bytes of a storage (tied weights);
// each receives its own copy, one tensor at a time. Tensors with non-consecutive elements, or that share bytes with a preceding tensor,
// receive them when the storage is complete; only the part that these need is buffered.
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
  explicit StorageReader(TensorVisitor& visitor) : visitor_(visitor) {}

  // Finds the tensors and reports them to the visitor. Errors: those of ReadStateDict and of the visitor.
  Status Open(const Pickle& pickle);

  std::optional<uint32_t> Find(std::string_view key) const;
  uint64_t Bytes(uint32_t storage) const { return storages_[storage].bytes; }
  int64_t Elements(uint32_t storage) const { return storages_[storage].elements; }

  // For each storage: Begin, then exactly Bytes() bytes, then End. Errors: kMalformedFile if the storage is repeated.
  Status Begin(uint32_t storage);
  Status Feed(std::span<const uint8_t> bytes);
  Status End();

  // Checks that all needed storages have arrived. Errors: kMalformedFile, which names a tensor without data.
  Status CheckComplete() const;
  // Describes a storage for messages, for example 'tensor "a.b.weight"'.
  std::string Describe(uint32_t storage) const;

 private:
  struct Storage {
    std::string key;
    int64_t elements = 0;
    uint64_t bytes = 0;
    std::vector<uint32_t> tensors;  // wanted tensors, ordered by first byte
    bool came = false;
  };

  void Plan(const Storage& storage);
  Status Pass(std::span<const uint8_t> bytes);
  Status Keep(std::span<const uint8_t> bytes);
  Status Gather(const StateTensor& tensor, uint32_t index);

  TensorVisitor& visitor_;
  std::vector<StateTensor> tensors_;
  std::vector<Storage> storages_;
  std::map<std::string, uint32_t, std::less<>> by_key_;

  uint32_t current_ = 0;
  uint64_t position_ = 0;
  std::vector<uint32_t> passing_;  // tensors that receive bytes as they arrive, in order
  size_t next_ = 0;                // index into passing_ of the first incomplete tensor
  std::vector<uint32_t> waiting_;  // tensors that receive their bytes when the storage is complete
  uint64_t kept_begin_ = 0;        // start of the part that is buffered for waiting_
  uint64_t kept_end_ = 0;
  std::vector<uint8_t> kept_;
};

}  // namespace peruse

// Parses a PyTorch file from before version 1.6: consecutive pickles, then unaligned storages (torch/serialization.py, _legacy_load).
//   the integer 0x1950a86a20f9469cfc6c, the integer 1001, a dictionary that describes the writing machine,
//   the dictionary of tensors, the list of the storages' keys,
//   for each key: its number of elements as int64, then its bytes
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/status.h"
#include "core/weights/pytorch/pickle.h"
#include "core/weights/pytorch/storage_reader.h"
#include "core/weights/tensor_info.h"
#include "core/weights/weights_parser.h"

namespace peruse {

class PytorchLegacyParser : public FileParser {
 public:
  explicit PytorchLegacyParser(TensorVisitor& visitor) : storages_(visitor) {}

  // Whether a file that starts with these 8 bytes has this format.
  static bool Starts(std::span<const uint8_t> first);

  Status Feed(std::span<const uint8_t> chunk) override;
  Status Finish() override;

 private:
  enum class State : uint8_t { kMagic, kProtocol, kMachine, kTensors, kKeys, kCount, kData, kDone };

  Status ReadMagic(std::span<const uint8_t>& chunk);
  Status ReadPickle(std::span<const uint8_t>& chunk);
  Status OnPickle();
  Status CheckMachine() const;
  Status OnKeys();
  Status ReadCount(std::span<const uint8_t>& chunk);
  Status ReadData(std::span<const uint8_t>& chunk);
  void NextStorage();

  StorageReader storages_;
  State state_ = State::kMagic;
  size_t magic_read_ = 0;
  Pickle pickle_;               // the current pickle
  std::vector<uint32_t> keys_;  // keys of the storages, in file order
  size_t next_ = 0;             // index into keys_
  std::vector<uint8_t> count_;
  uint64_t read_ = 0;  // number of bytes of the current storage so far
};

}  // namespace peruse

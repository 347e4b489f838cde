// Parses a PyTorch file since version 1.6 as it arrives: a zip archive of stored (never compressed) records.
//   <top>/data.pkl      the dictionary, first
//   <top>/data/<key>    the bytes of a storage, in any order
//   <top>/...           small records; only byteorder is read
// Most local headers have neither size nor checksum: these follow the data, and the pickle gives the length of each storage.
// (torch/csrc/serialization, PyTorchStreamWriter; zip format: APPNOTE.TXT 6.3.)
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/weights/pytorch/pickle.h"
#include "core/weights/pytorch/storage_reader.h"
#include "core/weights/tensor_info.h"
#include "core/weights/weights_parser.h"

namespace peruse {

class PytorchZipParser : public FileParser {
 public:
  static constexpr size_t kMaxOtherBytes = size_t{64} << 10;  // limit for records that are neither pickle nor storage

  explicit PytorchZipParser(TensorVisitor& visitor) : storages_(visitor) {}

  Status Feed(std::span<const uint8_t> chunk) override;
  Status Finish() override;

 private:
  enum class State : uint8_t {
    kSignature,
    kLocalHeader,
    kNames,
    kPickle,
    kStorage,
    kOther,
    kDescriptor,
    kCentralEntry,
    kZip64End,
    kZip64Locator,
    kEnd,
    kSkip,  // skips skip_ bytes, then expects a signature
    kComment,
    kDone,
  };

  struct Record {
    std::string name;  // without the top folder
    bool sized = false;
    uint64_t size = 0;  // from the header, if `sized`
    uint32_t crc = 0;   // from the header, if `sized`
    uint64_t read = 0;
    uint32_t crc_read = 0;
    size_t name_bytes = 0;
    size_t extra_bytes = 0;
    uint32_t storage = 0;
  };

  void Expect(State state, size_t bytes);
  Status OnCollected();
  Status OnSignature();
  Status OnLocalHeader();
  Status OnNames();
  Status ReadZip64Size(std::span<const uint8_t> extra);
  Status StartRecord();
  Status StartStorage(std::string_view key);
  Status ReadPickle(std::span<const uint8_t>& chunk);
  Status ReadStorage(std::span<const uint8_t>& chunk);
  Status ReadOther(std::span<const uint8_t>& chunk);
  Status EndOther();
  Status EndData();
  Status OnDescriptor();
  Status CheckRecord(uint64_t size, uint32_t crc) const;
  Status StartDirectory();
  Status OnEnd();
  void Count(std::span<const uint8_t> bytes);

  StorageReader storages_;
  Pickle pickle_;
  State state_ = State::kSignature;
  size_t wanted_ = 4;
  std::vector<uint8_t> buffer_;
  uint64_t skip_ = 0;
  std::string top_;
  Record record_;
  uint64_t records_ = 0;
  uint64_t entries_ = 0;  // number of entries in the central directory
  bool opened_ = false;   // whether the pickle was read, so that storages_ knows the tensors
  bool in_directory_ = false;
};

}  // namespace peruse

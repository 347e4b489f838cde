// Reads a checkpoint as it arrives: one file or several shards of any format (weights_parser.h), with an optional adapter merged in
// (lora.h). When a file's header arrives, one error reports every missing and misshapen tensor; then the bytes of each tensor that
// Parameters (core/program/parameters.h) need are passed to a sink: a model or a trainer.
//
//   Checkpoint checkpoint(parameters, prefixes, sink);
//   while (more) checkpoint.Feed(chunk);
//   checkpoint.Finish();
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/name_list.h"
#include "core/base/status.h"
#include "core/formats/weight_format.h"
#include "core/program/parameters.h"
#include "core/weights/lora.h"
#include "core/weights/tensor_info.h"
#include "core/weights/tensor_names.h"
#include "core/weights/weights_parser.h"

namespace peruse {

struct ShardIndex {
  std::vector<std::string> tensors;  // in index order
  std::vector<std::string> files;    // unique, sorted and plain names, which cannot leave the checkpoint's folder
};

Result<ShardIndex> ParseShardIndex(std::string_view json);

std::string Described(const std::string& name, std::span<const int64_t> shape);

struct Misfits {
  NameList missing;       // missing tensors of the encoder
  NameList missing_head;  // missing tensors of the head
  std::string head;
  NameList misshapen;
  NameList unreadable;  // types that weights cannot have
  NameList int8;        // int8 where only floats are allowed
  NameList int4;        // uint8, likewise

  Status ToStatus() const;
};

struct NeededTensor {
  std::string name;          // as in TensorNames, without the prefix
  std::vector<size_t> uses;  // indices in Parameters::tensors, except those that Checkpoint::Skip marks as loaded
  std::string head;          // the head that owns it; empty for the encoder
  bool read = false;         // whether all of its bytes have arrived
  bool words = false;        // whether a use, skipped or not, is the table of token embeddings
  const WeightFormat* format = nullptr;  // of the rows in the current file; nullptr for floats

  bool in_place() const { return uses.empty(); }
};

class TensorWriter {
 public:
  virtual ~TensorWriter() = default;
  virtual Status Feed(std::span<const uint8_t> bytes) = 0;
};

class CheckpointSink {
 public:
  virtual ~CheckpointSink() = default;

  // Called once, before any Open, when the checkpoint's tensor names are known.
  virtual Status Begin(const TensorNames& names, std::span<const NeededTensor> tensors) {
    (void)names, (void)tensors;
    return OkStatus();
  }
  // Called for each file before any Open, when NeededTensor::format of its tensors is known.
  virtual void OnFormats(std::span<const NeededTensor> tensors) { (void)tensors; }
  // Whether the checkpoint may omit the tensor, or have a different number of elements; the tensor is then not read.
  virtual bool IsOptional(const NeededTensor& tensor) const { return (void)tensor, false; }
  // Whether the sink accepts the file's encoded rows: integers of `type`, with scales in a second tensor. Otherwise such a tensor is an
  // error.
  virtual bool TakesEncoded(const ParameterTensor& use, DType type) const { return (void)use, (void)type, false; }
  enum class Content : uint8_t {
    kFloats,
    kEncoded,  // encoded rows without scales
    kScales,   // of encoded rows
  };
  // Called when the first bytes of a tensor arrive. `stored` outlives the writer.
  virtual Result<std::unique_ptr<TensorWriter>> Open(const NeededTensor& tensor, const TensorInfo& stored,
                                                     Content content) = 0;
};

class Checkpoint : private TensorVisitor {
 public:
  // `prefixes`: see Family::prefixes(). `parameters` and `sink` must outlive the checkpoint.
  Checkpoint(const Parameters& parameters, std::vector<std::string> prefixes, CheckpointSink& sink);

  // Marks uses that have values already, by index in Parameters::tensors; the list may be shorter. Must precede the first header.
  void Skip(std::vector<bool> uses) { skipped_ = std::move(uses); }
  // Compares the bytes of a tensor that is read with those of another, which is not. Names as in TensorNames. Must precede the first header.
  void Compare(const std::string& read, const std::string& other) { twins_[0].name = read, twins_[1].name = other; }
  // Sets a complete adapter to merge into the weights as they arrive, by the threads of `pool`, which may be null. Must precede the first bytes.
  void SetAdapter(std::unique_ptr<LoraAdapter> adapter, const cpu::ThreadPool* pool);

  // After an error, every later call returns the same error.

  // Sets the index of a sharded checkpoint. Returns the file names in the order in which to feed them; EndShard must follow each file.
  // Errors: kMalformedFile, kMissingTensor, kMissingHead.
  Result<std::vector<std::string>> SetShardIndex(std::string_view index_json);
  Status EndShard();
  // Accepts the next bytes of a file. Returns errors in the header before it reads any values. Errors: kMalformedFile, kMissingTensor,
  // kShapeMismatch, kMissingHead, kUnsupported, kOutOfMemory, and those of the sink.
  Status Feed(std::span<const uint8_t> chunk);
  // Ends the last file. Errors: kTruncatedFile; kMissingTensor if the index names a tensor that no file has.
  Status Finish();

  // The functions below are valid from the first header on.

  bool resolved() const { return resolved_; }
  // The type of a tensor in the current file; nullopt if it is not there.
  std::optional<DType> StoredType(const ParameterTensor& tensor) const;
  const TensorNames& names() const { return names_; }
  std::span<const NeededTensor> tensors() const { return needed_; }
  // The number of tensors that are needed, and the names of all others.
  int32_t tensors_used() const { return tensors_used_; }
  const std::vector<std::string>& extra_tensors() const { return extra_tensors_; }
  // Whether the checkpoint has both tensors that were to be compared, with different values. Valid after Finish.
  bool have_different_values() const;

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);
  struct Target {
    size_t needed = kNone;  // index into needed_
    CheckpointSink::Content content = CheckpointSink::Content::kFloats;
    size_t twin = kNone;  // index into twins_
  };
  // A tensor to compare with another.
  struct Twin {
    std::string name;
    uint64_t bytes = 0;
    uint32_t checksum = 0;
  };
  using Numbers = std::map<std::string, size_t>;  // indexed by name

  Status OnHeader(std::span<const TensorInfo> tensors) override;
  Status OnData(size_t index, std::span<const uint8_t> bytes) override;
  bool Wants(size_t index) const override { return targets_[index].needed != kNone || targets_[index].twin != kNone; }

  TensorVisitor& First() { return merger_ ? static_cast<TensorVisitor&>(*merger_) : *this; }
  Status Keep(Status status);
  Result<std::vector<std::string>> ReadShardIndex(std::string_view index_json);
  Status Resolve(const std::vector<std::string_view>& names);
  void CollectNeeded();
  Status CheckFit(std::span<const TensorInfo> tensors, const Numbers& numbers) const;
  void CheckTensor(const NeededTensor& needed, const TensorInfo& tensor, const TensorInfo* scales,
                   Misfits& misfits) const;
  Target TargetOf(const TensorInfo& tensor, const std::string& name, std::span<const TensorInfo> tensors,
                  const Numbers& numbers) const;
  bool IsLeftOut(const NeededTensor& needed, const TensorInfo& tensor) const;
  bool TakesEncoded(const NeededTensor& needed, const TensorInfo& tensor) const;
  // Precondition: !needed.in_place().
  const std::vector<int64_t>& ShapeOf(const NeededTensor& needed) const {
    return parameters_.tensors[needed.uses[0]].shape;
  }

  const Parameters& parameters_;
  CheckpointSink& sink_;
  std::unique_ptr<LoraAdapter> adapter_;
  std::unique_ptr<LoraMerger> merger_;  // between the parser and this object; null without an adapter
  std::unique_ptr<WeightsParser> parser_;
  Status failure_;
  bool between_shards_ = false;

  std::vector<bool> skipped_;
  bool resolved_ = false;
  TensorNames names_;
  std::vector<NeededTensor> needed_;
  Numbers needed_numbers_;  // indices into needed_
  int32_t tensors_used_ = 0;
  std::vector<std::string> extra_tensors_;

  Twin twins_[2];
  std::vector<TensorInfo> tensors_;
  std::vector<Target> targets_;  // one per tensor
  size_t open_ = kNone;
  uint64_t open_bytes_ = 0;
  std::unique_ptr<TensorWriter> writer_;
};

}  // namespace peruse

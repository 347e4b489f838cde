// Parses the part of Python's pickle format that a dictionary of tensors needs, as it arrives. Executes nothing: the few allowed classes
// are built in, and any other name or instruction is an error that names it. A pickle is a program for a stack machine (pickle.py and
// pickletools.py, protocol 2). Values here are plain data; lists, dictionaries and tensors are referenced by number, so that cyclic values
// are harmless.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/tensor/dtype.h"

namespace peruse {

enum class PickleGlobal : uint8_t { kOrderedDict, kRebuildTensor, kRebuildTensorV2, kRebuildParameter, kStorageClass };

struct PickleValue {
  enum class Kind : uint8_t {
    kNothing,
    kNone,
    kBool,
    kInt,
    kFloat,
    kString,
    kTuple,
    kList,
    kDict,
    kGlobal,
    kStorageTuple,  // a tuple with a storage class; only BINPERSID uses it
    kStorage,
    kTensor,
  };

  Kind kind = Kind::kNothing;
  PickleGlobal global = PickleGlobal::kOrderedDict;  // for kGlobal
  DType dtype = DType::kF32;                         // for kGlobal, if it is a storage class
  bool ordered = false;                              // for kDict: whether it is an OrderedDict
  uint32_t size = 0;                                 // bytes of a kString, or items of a kTuple
  int64_t number = 0;  // value of kBool and kInt; for other kinds the number of the stored object

  bool is(Kind other) const { return kind == other; }
};

// A block of elements that tensors refer to.
struct PickleStorage {
  std::string key;
  DType dtype = DType::kF32;
  int64_t elements = 0;
};

struct PickleStorageView {
  uint32_t storage = 0;
  int64_t first = 0;  // in elements
  int64_t elements = 0;
};

// Sizes count elements. They are not checked: the pickle may claim anything.
struct PickleTensor {
  PickleStorageView view;
  int64_t offset = 0;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
};

class Pickle {
 public:
  using Value = PickleValue;
  using Entry = std::pair<Value, Value>;

  static constexpr size_t kMaxValues = 1'000'000;
  static constexpr size_t kMaxStringBytes = size_t{64} << 10;
  static constexpr uint64_t kMaxBytes = uint64_t{64} << 20;
  static constexpr size_t kMaxMarks = 64;

  // Consumes bytes from the front of `chunk` until the pickle ends (done()) or the chunk does. Errors: kMalformedFile, kUnsupported,
  // kOutOfMemory; the pickle is then unusable.
  Status Feed(std::span<const uint8_t>& chunk);
  bool done() const { return done_; }
  uint64_t bytes_read() const { return bytes_read_; }

  // The functions below require done().

  const Value& root() const { return stack_.front(); }
  std::string_view String(const Value& value) const {
    return std::string_view(text_).substr(static_cast<size_t>(value.number), value.size);
  }
  std::span<const Value> Tuple(const Value& value) const {
    return std::span(items_).subspan(static_cast<size_t>(value.number), value.size);
  }
  const std::vector<Value>& List(const Value& value) const { return lists_[static_cast<size_t>(value.number)]; }
  // Entries in file order. If two entries have the same key, the later one counts.
  const std::vector<Entry>& Dict(const Value& value) const { return dicts_[static_cast<size_t>(value.number)]; }
  const PickleTensor& Tensor(const Value& value) const { return tensors_[static_cast<size_t>(value.number)]; }
  const std::vector<PickleStorage>& storages() const { return storages_; }

 private:
  Status FeedPiece(std::span<const uint8_t>& piece);
  Status Execute(uint8_t code, std::span<const uint8_t> argument);
  // Calls `make` with the number of values above the last mark, which it removes.
  Status SinceMark(Status (Pickle::*make)(size_t count));
  Status Stop();

  Status Push(const Value& value);
  Status PushNumber(Value::Kind kind, int64_t number) { return Push({.kind = kind, .number = number}); }
  Status PushText(std::span<const uint8_t> bytes, bool ascii);
  Status PushLong(std::span<const uint8_t> bytes);
  Status Need(size_t count) const;
  Result<Value> Pop();
  Result<size_t> PopMark();
  Status MakeTuple(size_t count);
  Status Append(size_t count);
  Status SetItems(size_t count);
  Status Remember(uint64_t index);
  Status Recall(uint64_t index);
  Status PushGlobal(std::string_view module, std::string_view name);
  Status PushStorage();
  Status Build();
  Status Reduce();
  Status RebuildTensor(std::span<const Value> arguments);
  Result<std::vector<int64_t>> Sizes(const Value& value, const char* what) const;
  bool IsEmptyDict(const Value& value) const { return value.is(Value::Kind::kDict) && Dict(value).empty(); }

  bool done_ = false;
  uint64_t bytes_read_ = 0;
  size_t allowance_ = 0;        // number of bytes that may be read before the next memory check
  std::vector<uint8_t> split_;  // an instruction whose bytes are in two chunks
  size_t values_made_ = 0;

  std::vector<Value> stack_;
  std::vector<size_t> marks_;
  std::vector<Value> memo_;  // indexed by memo number (pickle's PUT and GET); kNothing if absent

  std::string text_;          // contents of all strings
  std::vector<Value> items_;  // items of all tuples
  std::vector<std::vector<Value>> lists_;
  std::vector<std::vector<Entry>> dicts_;
  std::vector<PickleTensor> tensors_;
  std::vector<PickleStorageView> views_;
  std::vector<PickleStorage> storages_;
  std::map<std::string, uint32_t, std::less<>> storage_by_key_;
};

}  // namespace peruse

// The stack machine: instructions and containers. pickle_objects.cc interprets PyTorch's values.
#include "core/weights/pytorch/pickle.h"

#include <algorithm>

#include "core/base/memory.h"
#include "core/base/utf8.h"
#include "core/weights/pytorch/opcode.h"

namespace peruse {
namespace {

using Kind = PickleValue::Kind;

// Memory is checked once per kPieceBytes of a pickle. A byte of instructions creates at most kBytesPerByte bytes of values.
constexpr size_t kPieceBytes = size_t{4} << 10;
constexpr size_t kBytesPerByte = 256;

Status Malformed(const std::string& what) { return MalformedFile("PyTorch file: its pickle " + what); }

uint64_t LittleEndian(std::span<const uint8_t> bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) value |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  return value;
}

}  // namespace

Status Pickle::Feed(std::span<const uint8_t>& chunk) {
  while (!done_ && !chunk.empty()) {
    if (allowance_ == 0) {
      // Vectors double their size, and exist twice while they grow.
      const size_t held = (stack_.capacity() + items_.capacity()) * sizeof(Value) + text_.capacity() +
                          lists_.capacity() * sizeof(std::vector<Value>) +
                          dicts_.capacity() * sizeof(std::vector<Entry>);
      PERUSE_RETURN_IF_ERROR(
          EnsureMemory(2 * held + kPieceBytes * kBytesPerByte, "the list of a PyTorch file's tensors"));
      allowance_ = kPieceBytes;
    }
    const std::span<const uint8_t> piece = chunk.first(std::min(chunk.size(), allowance_));
    std::span<const uint8_t> rest = piece;
    PERUSE_RETURN_IF_ERROR(FeedPiece(rest));
    const size_t taken = piece.size() - rest.size();
    chunk = chunk.subspan(taken);
    allowance_ -= taken;
    bytes_read_ += taken;
    if (bytes_read_ > kMaxBytes) return Malformed("is longer than " + std::to_string(kMaxBytes >> 20) + " MB");
  }
  return OkStatus();
}

Status Pickle::FeedPiece(std::span<const uint8_t>& piece) {
  while (!done_) {
    const bool whole = split_.empty();
    const std::span<const uint8_t> bytes = whole ? piece : std::span<const uint8_t>(split_);
    if (bytes.empty()) return OkStatus();
    PERUSE_ASSIGN_OR_RETURN(const size_t length, PickleInstructionLength(bytes));
    if (length > bytes.size()) {
      const size_t taken = std::min(piece.size(), length - split_.size());
      if (taken == 0) return OkStatus();
      split_.insert(split_.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(taken));
      piece = piece.subspan(taken);
      continue;
    }
    PERUSE_RETURN_IF_ERROR(Execute(bytes[0], bytes.subspan(1, length - 1)));
    if (whole) {
      piece = piece.subspan(length);
    } else {
      split_.clear();
    }
  }
  return OkStatus();
}

Status Pickle::Execute(uint8_t code, std::span<const uint8_t> argument) {
  switch (static_cast<Opcode>(code)) {
    case Opcode::kProto:
      if (argument[0] == 2 || argument[0] == 3) return OkStatus();
      return Unsupported("PyTorch file: its pickle has protocol " + std::to_string(argument[0]) + " instead of 2");
    case Opcode::kStop:
      return Stop();
    case Opcode::kNone:
      return Push({.kind = Kind::kNone});
    case Opcode::kNewTrue:
      return PushNumber(Kind::kBool, 1);
    case Opcode::kNewFalse:
      return PushNumber(Kind::kBool, 0);
    case Opcode::kBinInt:
      return PushNumber(Kind::kInt, static_cast<int32_t>(LittleEndian(argument)));
    case Opcode::kBinInt1:
    case Opcode::kBinInt2:
      return PushNumber(Kind::kInt, static_cast<int64_t>(LittleEndian(argument)));
    case Opcode::kLong1:
      return PushLong(argument.subspan(1));
    case Opcode::kBinFloat:
      return PushNumber(Kind::kFloat, 0);  // no tensor depends on the value of a float
    case Opcode::kBinUnicode:
      return PushText(argument.subspan(4), false);
    case Opcode::kShortBinString:
      return PushText(argument.subspan(1), true);
    case Opcode::kMark:
      if (marks_.size() >= kMaxMarks) return Malformed("is nested too deeply");
      marks_.push_back(stack_.size());
      return OkStatus();
    case Opcode::kEmptyTuple:
      return MakeTuple(0);
    case Opcode::kTuple1:
      return MakeTuple(1);
    case Opcode::kTuple2:
      return MakeTuple(2);
    case Opcode::kTuple3:
      return MakeTuple(3);
    case Opcode::kTuple:
      return SinceMark(&Pickle::MakeTuple);
    case Opcode::kEmptyList:
      lists_.emplace_back();
      return PushNumber(Kind::kList, static_cast<int64_t>(lists_.size()) - 1);
    case Opcode::kAppend:
      return Append(1);
    case Opcode::kAppends:
      return SinceMark(&Pickle::Append);
    case Opcode::kEmptyDict:
      dicts_.emplace_back();
      return PushNumber(Kind::kDict, static_cast<int64_t>(dicts_.size()) - 1);
    case Opcode::kSetItem:
      return SetItems(2);
    case Opcode::kSetItems:
      return SinceMark(&Pickle::SetItems);
    case Opcode::kBinPut:
    case Opcode::kLongBinPut:
      return Remember(LittleEndian(argument));
    case Opcode::kBinGet:
    case Opcode::kLongBinGet:
      return Recall(LittleEndian(argument));
    case Opcode::kGlobal: {
      const std::string_view names(reinterpret_cast<const char*>(argument.data()), argument.size());
      const size_t end = names.find('\n');
      return PushGlobal(names.substr(0, end), names.substr(end + 1, names.size() - end - 2));
    }
    case Opcode::kBinPersId:
      return PushStorage();
    case Opcode::kReduce:
      return Reduce();
    case Opcode::kBuild:
      return Build();
  }
  PERUSE_CHECK(false);  // PickleInstructionLength refuses other codes
  return OkStatus();
}

Status Pickle::SinceMark(Status (Pickle::*make)(size_t count)) {
  PERUSE_ASSIGN_OR_RETURN(const size_t count, PopMark());
  return (this->*make)(count);
}

Status Pickle::Stop() {
  if (stack_.size() != 1 || !marks_.empty()) return Malformed("ends with " + std::to_string(stack_.size()) + " values");
  done_ = true;
  std::vector<Value>().swap(memo_);
  return OkStatus();
}

Status Pickle::Push(const Value& value) {
  if (++values_made_ > kMaxValues) return Malformed("holds more than " + std::to_string(kMaxValues) + " values");
  stack_.push_back(value);
  return OkStatus();
}

Status Pickle::PushText(std::span<const uint8_t> bytes, bool ascii) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (ascii ? !IsAscii(text) : !IsValidUtf8(text)) return Malformed("holds a string that is not valid text");
  const size_t at = text_.size();
  text_.append(text);
  return Push({.kind = Kind::kString, .size = static_cast<uint32_t>(text.size()), .number = static_cast<int64_t>(at)});
}

Status Pickle::PushLong(std::span<const uint8_t> bytes) {
  if (bytes.size() > 8) return Malformed("holds an integer of " + std::to_string(bytes.size()) + " bytes");
  uint64_t value = LittleEndian(bytes);
  const bool negative = !bytes.empty() && bytes.back() >= 0x80;
  if (negative && bytes.size() < 8) value |= ~uint64_t{0} << (8 * bytes.size());
  return PushNumber(Kind::kInt, static_cast<int64_t>(value));
}

Status Pickle::Need(size_t count) const {
  const size_t floor = marks_.empty() ? 0 : marks_.back();
  return stack_.size() - floor >= count ? OkStatus() : Malformed("takes a value that is not there");
}

Result<Pickle::Value> Pickle::Pop() {
  PERUSE_RETURN_IF_ERROR(Need(1));
  const Value value = stack_.back();
  stack_.pop_back();
  return value;
}

Result<size_t> Pickle::PopMark() {
  if (marks_.empty()) return Malformed("ends a list or tuple that it has not begun");
  const size_t count = stack_.size() - marks_.back();
  marks_.pop_back();
  return count;
}

Status Pickle::MakeTuple(size_t count) {
  PERUSE_RETURN_IF_ERROR(Need(count));
  Value tuple{
      .kind = Kind::kTuple, .size = static_cast<uint32_t>(count), .number = static_cast<int64_t>(items_.size())};
  for (size_t i = stack_.size() - count; i < stack_.size(); ++i) {
    const Value& item = stack_[i];
    if (item.is(Kind::kStorageTuple)) return Malformed("puts a storage's class where no class belongs");
    if (item.is(Kind::kGlobal)) {
      if (item.global != PickleGlobal::kStorageClass) return Malformed("puts a function where no function belongs");
      tuple.kind = Kind::kStorageTuple;
    }
    items_.push_back(item);
  }
  stack_.resize(stack_.size() - count);
  return Push(tuple);
}

namespace {

// Whether a value may be an element of a list or dictionary. Functions, classes and storage classes may only be called or name a storage.
bool IsContent(const PickleValue& value) { return !value.is(Kind::kGlobal) && !value.is(Kind::kStorageTuple); }

}  // namespace

Status Pickle::Append(size_t count) {
  PERUSE_RETURN_IF_ERROR(Need(count + 1));
  const size_t first = stack_.size() - count;
  const Value list = stack_[first - 1];
  if (!list.is(Kind::kList)) return Malformed("appends to something that is not a list");
  for (size_t i = first; i < stack_.size(); ++i) {
    if (!IsContent(stack_[i])) return Malformed("puts a function or class into a list");
    lists_[static_cast<size_t>(list.number)].push_back(stack_[i]);
  }
  stack_.resize(first);
  return OkStatus();
}

Status Pickle::SetItems(size_t count) {
  PERUSE_RETURN_IF_ERROR(Need(count + 1));
  if (count % 2 != 0) return Malformed("has a key without a value");
  const size_t first = stack_.size() - count;
  const Value dict = stack_[first - 1];
  if (!dict.is(Kind::kDict)) return Malformed("sets an item of what is no dictionary");
  for (size_t i = first; i < stack_.size(); i += 2) {
    const Value& key = stack_[i];
    if (!key.is(Kind::kString) && !key.is(Kind::kInt)) return Malformed("has a key that is neither text nor integer");
    if (!IsContent(stack_[i + 1])) return Malformed("puts a function or class into a dictionary");
    dicts_[static_cast<size_t>(dict.number)].emplace_back(key, stack_[i + 1]);
  }
  stack_.resize(first);
  return OkStatus();
}

Status Pickle::Remember(uint64_t index) {
  PERUSE_RETURN_IF_ERROR(Need(1));
  if (index >= kMaxValues) return Malformed("remembers more than " + std::to_string(kMaxValues) + " values");
  if (index >= memo_.size()) {
    const size_t size = std::max(static_cast<size_t>(index) + 1, std::min(2 * memo_.size(), kMaxValues));
    PERUSE_RETURN_IF_ERROR(EnsureMemory(size * sizeof(Value), "the list of a PyTorch file's tensors"));
    memo_.resize(size);
  }
  memo_[static_cast<size_t>(index)] = stack_.back();
  return OkStatus();
}

Status Pickle::Recall(uint64_t index) {
  if (index >= memo_.size() || memo_[static_cast<size_t>(index)].is(Kind::kNothing)) {
    return Malformed("recalls value " + std::to_string(index) + ", which it did not keep");
  }
  return Push(Value(memo_[static_cast<size_t>(index)]));
}

}  // namespace peruse

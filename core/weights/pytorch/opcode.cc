#include "core/weights/pytorch/opcode.h"

#include <algorithm>
#include <string>

#include "core/weights/pytorch/pickle.h"

namespace peruse {
namespace {

constexpr size_t kMaxNameBytes = 512;  // limit for the names of module and class together, with their line ends

struct OpcodeName {
  uint8_t code;
  const char* name;
};

constexpr OpcodeName kRefused[] = {
    {'0', "POP"},
    {'1', "POP_MARK"},
    {'2', "DUP"},
    {'B', "BINBYTES"},
    {'C', "SHORT_BINBYTES"},
    {'F', "FLOAT"},
    {'I', "INT"},
    {'L', "LONG"},
    {'P', "PERSID"},
    {'S', "STRING"},
    {'T', "BINSTRING"},
    {'V', "UNICODE"},
    {'d', "DICT"},
    {'g', "GET"},
    {'i', "INST"},
    {'l', "LIST"},
    {'o', "OBJ"},
    {'p', "PUT"},
    {0x81, "NEWOBJ"},
    {0x82, "EXT1"},
    {0x83, "EXT2"},
    {0x84, "EXT4"},
    {0x8B, "LONG4"},
    {0x8C, "SHORT_BINUNICODE"},
    {0x8D, "BINUNICODE8"},
    {0x8E, "BINBYTES8"},
    {0x8F, "EMPTY_SET"},
    {0x90, "ADDITEMS"},
    {0x91, "FROZENSET"},
    {0x92, "NEWOBJ_EX"},
    {0x93, "STACK_GLOBAL"},
    {0x94, "MEMOIZE"},
    {0x95, "FRAME"},
    {0x96, "BYTEARRAY8"},
    {0x97, "NEXT_BUFFER"},
    {0x98, "READONLY_BUFFER"},
};

Status Refused(uint8_t code) {
  const auto* const found = std::find_if(std::begin(kRefused), std::end(kRefused),
                                         [code](const OpcodeName& one) { return one.code == code; });
  const std::string number = std::to_string(code);
  if (found == std::end(kRefused))
    return MalformedFile("PyTorch file: its pickle has the unknown instruction " + number);
  return Unsupported("PyTorch file: its pickle has the instruction " + std::string(found->name) + " (" + number +
                     "), which a dictionary of tensors does not need");
}

Result<size_t> TextLength(std::span<const uint8_t> bytes, size_t length_bytes) {
  if (bytes.size() < 1 + length_bytes) return 1 + length_bytes;
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) length |= static_cast<size_t>(bytes[1 + i]) << (8 * i);
  if (length > Pickle::kMaxStringBytes) {
    return MalformedFile("PyTorch file: its pickle holds a string of " + std::to_string(length) + " bytes");
  }
  return 1 + length_bytes + length;
}

// The argument of GLOBAL is a module name and a class name, one per line.
Result<size_t> GlobalLength(std::span<const uint8_t> bytes) {
  const auto first = std::find(bytes.begin(), bytes.end(), '\n');
  const auto second = first == bytes.end() ? first : std::find(first + 1, bytes.end(), '\n');
  if (second != bytes.end()) return static_cast<size_t>(second - bytes.begin()) + 1;
  if (bytes.size() > kMaxNameBytes) return MalformedFile("PyTorch file: its pickle names a class without an end");
  return bytes.size() + 1;
}

}  // namespace

Result<size_t> PickleInstructionLength(std::span<const uint8_t> bytes) {
  switch (static_cast<Opcode>(bytes[0])) {
    case Opcode::kMark:
    case Opcode::kStop:
    case Opcode::kNone:
    case Opcode::kBinPersId:
    case Opcode::kReduce:
    case Opcode::kEmptyList:
    case Opcode::kAppend:
    case Opcode::kBuild:
    case Opcode::kAppends:
    case Opcode::kSetItem:
    case Opcode::kTuple:
    case Opcode::kSetItems:
    case Opcode::kEmptyDict:
    case Opcode::kEmptyTuple:
    case Opcode::kTuple1:
    case Opcode::kTuple2:
    case Opcode::kTuple3:
    case Opcode::kNewTrue:
    case Opcode::kNewFalse:
      return 1;
    case Opcode::kProto:
    case Opcode::kBinInt1:
    case Opcode::kBinPut:
    case Opcode::kBinGet:
      return 2;
    case Opcode::kBinInt2:
      return 3;
    case Opcode::kBinInt:
    case Opcode::kLongBinPut:
    case Opcode::kLongBinGet:
      return 5;
    case Opcode::kBinFloat:
      return 9;
    case Opcode::kShortBinString:
    case Opcode::kLong1:
      return TextLength(bytes, 1);
    case Opcode::kBinUnicode:
      return TextLength(bytes, 4);
    case Opcode::kGlobal:
      return GlobalLength(bytes);
  }
  return Refused(bytes[0]);
}

}  // namespace peruse

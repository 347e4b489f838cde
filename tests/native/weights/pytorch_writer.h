// Writes valid or broken PyTorch files: pickles, instruction by instruction, and archives.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/crc32.h"

namespace peruse::testing {

inline std::string LittleEndian(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += i < 8 ? static_cast<char>((value >> (8 * i)) & 0xFF) : '\0';
  return text;
}

// Pickle instructions that push a value:

inline std::string PickleText(const std::string& text) { return "X" + LittleEndian(text.size(), 4) + text; }
inline std::string PickleInt(int64_t value) { return "\x8A\x08" + LittleEndian(static_cast<uint64_t>(value), 8); }
inline std::string PickleGlobal(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
inline std::string PickleTuple(const std::vector<std::string>& items) {
  std::string text = "(";
  for (const std::string& item : items) text += item;
  return text + "t";
}
inline std::string PickleInts(const std::vector<int64_t>& values) {
  std::vector<std::string> items;
  for (const int64_t value : values) items.push_back(PickleInt(value));
  return PickleTuple(items);
}
inline std::string PickleCall(const std::string& callable, const std::vector<std::string>& arguments) {
  return callable + PickleTuple(arguments) + "R";
}
inline std::string PickleOrderedDict() { return PickleCall(PickleGlobal("collections", "OrderedDict"), {}); }
inline std::string PickleStorage(const std::string& type, const std::string& key, int64_t elements) {
  return PickleTuple({PickleText("storage"), PickleGlobal("torch", type), PickleText(key), PickleText("cpu"),
                      PickleInt(elements)}) +
         "Q";
}
inline std::string PickleTensor(const std::string& storage, int64_t offset, const std::vector<int64_t>& shape,
                                const std::vector<int64_t>& strides) {
  return PickleCall(PickleGlobal("torch._utils", "_rebuild_tensor_v2"),
                    {storage, PickleInt(offset), PickleInts(shape), PickleInts(strides), "\x89", PickleOrderedDict()});
}
inline std::string PickleDict(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string text = "}(";
  for (const auto& [name, value] : entries) text += PickleText(name) + value;
  return text + "u";
}
inline std::string PickleFile(const std::string& value) { return "\x80\x02" + value + "."; }

// The zip64 extra field in a local header: both sizes (section 4.5.3 of PKWARE's APPNOTE).
inline std::string Zip64Extra(uint64_t size) {
  return LittleEndian(1, 2) + LittleEndian(16, 2) + LittleEndian(size, 8) + LittleEndian(size, 8);
}

class ZipWriter {
 public:
  struct Options {
    uint16_t flags = 0x0808;
    uint16_t method = 0;
    bool wide = false;                      // a descriptor with sizes of 64 bits
    bool sized = false;                     // sizes and checksum in the header, no descriptor
    bool zip64 = false;                     // sizes of a `sized` record are in an extra field
    bool damaged = false;                   // wrong checksum
    std::string extra = std::string(4, 0);  // in the local header
  };

  void Add(const std::string& name, const std::string& content) { Add(name, content, Options()); }
  void Add(const std::string& name, const std::string& content, const Options& options) {
    const auto flags = static_cast<uint16_t>(options.sized ? options.flags & ~8 : options.flags);
    const uint32_t crc =
        Crc32(0, {reinterpret_cast<const uint8_t*>(content.data()), content.size()}) + (options.damaged ? 1 : 0);
    const std::string sizes = LittleEndian(content.size(), 4) + LittleEndian(content.size(), 4);
    const std::string sums = LittleEndian(crc, 4) + (options.zip64 ? std::string(8, '\xFF') : sizes);
    const std::string extra = options.extra + (options.zip64 ? Zip64Extra(content.size()) : "");
    const std::string fixed = LittleEndian(0, 2) + LittleEndian(flags, 2) + LittleEndian(options.method, 2) +
                              LittleEndian(0, 4) + (options.sized ? sums : std::string(12, 0)) +
                              LittleEndian(name.size(), 2) + LittleEndian(extra.size(), 2);
    body_ += "PK\3\4" + fixed + name + extra + content;
    if (!options.sized) {
      body_ += "PK\7\10" +
               (options.wide ? LittleEndian(crc, 4) + LittleEndian(content.size(), 8) + LittleEndian(content.size(), 8)
                             : sums);
    }
    directory_ += "PK\1\2" + LittleEndian(0, 2) + fixed + LittleEndian(0, 14) + name + extra;
    ++records_;
  }

  // Adds the end records of a file that needs 64 bits.
  std::string File() const {
    return body_ + directory_ + "PK\6\6" + LittleEndian(44, 8) + std::string(44, 0) + "PK\6\7" + std::string(16, 0) +
           End();
  }
  std::string SmallFile() const { return body_ + directory_ + End(); }
  std::string Body() const { return body_; }

 private:
  std::string End() const {
    return "PK\5\6" + LittleEndian(0, 4) + LittleEndian(records_, 2) + LittleEndian(records_, 2) + LittleEndian(0, 8) +
           LittleEndian(0, 2);
  }

  std::string body_;
  std::string directory_;
  uint64_t records_ = 0;
};

// A file with this pickle, and these storages with keys "0", "1", ...
inline std::string PytorchFile(const std::string& value, const std::vector<std::string>& storages = {}) {
  ZipWriter zip;
  zip.Add("archive/data.pkl", PickleFile(value));
  zip.Add("archive/byteorder", "little");
  for (size_t i = 0; i < storages.size(); ++i) zip.Add("archive/data/" + std::to_string(i), storages[i]);
  zip.Add("archive/version", "3\n");
  return zip.File();
}

// The same in the format before 1.6. Storage elements have 4 bytes.
inline std::string LegacyFile(const std::string& value, const std::vector<std::string>& storages,
                              const std::string& machine = PickleDict({{"little_endian", "\x88"}})) {
  std::string file = "\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19." + PickleFile(PickleInt(1001)) +
                     PickleFile(machine) + PickleFile(value);
  std::string keys = "](";
  std::string body;
  for (size_t i = 0; i < storages.size(); ++i) {
    keys += PickleText(std::to_string(i));
    body += LittleEndian(storages[i].size() / 4, 8) + storages[i];
  }
  return file + PickleFile(keys + "e") + body;
}

}  // namespace peruse::testing

// Compact tables of ascending numbers. They are readable in source (.inc), packed at compile time, and read sequentially. An entry is the
// difference of its key from the preceding key, and its value, with seven bits per byte; the last byte of a number has a clear high bit.
// Raw, these tables look random to a compressor; packed, they are a third of the download size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace peruse::text {

// Layouts of a table's entry: key << kValueBits | value (ValueBelow), or value << kKeyBits | key (ValueAbove).
template <int kValueBits>
struct ValueBelow {
  static constexpr uint32_t Key(uint32_t entry) { return entry >> kValueBits; }
  static constexpr uint32_t Value(uint32_t entry) { return entry & ((uint32_t{1} << kValueBits) - 1); }
};
template <int kKeyBits>
struct ValueAbove {
  static constexpr uint32_t Key(uint32_t entry) { return entry & ((uint32_t{1} << kKeyBits) - 1); }
  static constexpr uint32_t Value(uint32_t entry) { return entry >> kKeyBits; }
};

// Writes to `out`, or only counts bytes if `out` is null.
constexpr size_t PackNumber(uint32_t number, uint8_t* out) {
  size_t size = 0;
  for (; number > 0x7F; number >>= 7, ++size) {
    if (out != nullptr) out[size] = static_cast<uint8_t>(number | 0x80);
  }
  if (out != nullptr) out[size] = static_cast<uint8_t>(number);
  return size + 1;
}

template <typename Form, size_t kCount>
constexpr size_t PackEntries(const uint32_t (&entries)[kCount], uint8_t* out) {
  size_t size = 0;
  uint32_t before = 0;
  for (const uint32_t entry : entries) {
    for (const uint32_t number : {Form::Key(entry) - before, Form::Value(entry)}) {
      size += PackNumber(number, out == nullptr ? nullptr : out + size);
    }
    before = Form::Key(entry);
  }
  return size;
}

// Packs kEntries, a constexpr array of uint32_t in ascending order of keys. The linker drops the array itself if only the packed form is
// used.
template <const auto& kEntries, typename Form>
constexpr auto Packed() {
  std::array<uint8_t, PackEntries<Form>(kEntries, nullptr)> bytes{};
  PackEntries<Form>(kEntries, bytes.data());
  return bytes;
}

class PackedReader {
 public:
  struct Entry {
    uint32_t key;
    uint32_t value;
  };

  PackedReader(const uint8_t* begin, size_t size) : at_(begin), end_(begin + size) {}
  bool done() const { return at_ == end_; }
  Entry Next() {
    key_ += Number();
    return {key_, Number()};
  }

 private:
  uint32_t Number() {
    uint32_t number = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t byte = *at_++;
      number |= static_cast<uint32_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return number;
    }
  }

  const uint8_t* at_;
  const uint8_t* end_;
  uint32_t key_ = 0;
};

}  // namespace peruse::text

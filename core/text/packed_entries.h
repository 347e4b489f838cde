// Ascending tables of numbers in few bytes. They are written down as they are read by people (.inc), packed while the compiler runs, and
// read from their beginning: of each entry the distance of its key from the one before and its value, seven bits a byte, the last of each
// number without the highest bit. Made of random numbers to a compressor, they become a third of what they were for a page that loads them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace peruse::text {

// Of an entry key << kValueBits | value, or, with the value above, value << kKeyBits | key.
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

// Writes to `out`, or counts the bytes where there is none.
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

// kEntries: a constexpr array of uint32_t, ascending by key; it is in no program that reads only what this gives.
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

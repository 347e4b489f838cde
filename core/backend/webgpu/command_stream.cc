#include "core/backend/webgpu/command_stream.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

namespace peruse::webgpu {
namespace {

constexpr size_t kKeptWords = size_t{1} << 20;  // 4 MiB: runs need less; only loading needs larger buffers

}  // namespace

bool CommandStream::Begin(Opcode opcode, size_t payload_words) {
  if (failed_) return false;
  const size_t needed = size_ + 2 + payload_words;
  if (needed > capacity_) {
    const size_t capacity = std::max(needed, capacity_ + capacity_ / 2);
    std::unique_ptr<uint32_t[]> grown(new (std::nothrow) uint32_t[capacity]);
    if (!grown) {
      failed_ = true;
      return false;
    }
    std::copy(words_.get(), words_.get() + size_, grown.get());
    words_ = std::move(grown);
    capacity_ = capacity;
  }
  record_ = size_;
  Word(static_cast<uint32_t>(opcode));
  Word(0);
  return true;
}

void CommandStream::Word(uint32_t word) {
  PERUSE_CHECK(size_ < capacity_);
  words_[size_++] = word;
}

void CommandStream::Float(float value) { Word(std::bit_cast<uint32_t>(value)); }

uint8_t* CommandStream::Room(size_t bytes) {
  const size_t words = WordsOf(bytes);
  PERUSE_CHECK(words <= capacity_ - size_);
  if (words > 0) words_[size_ + words - 1] = 0;
  uint8_t* room = reinterpret_cast<uint8_t*>(words_.get() + size_);
  size_ += words;
  return room;
}

void CommandStream::Bytes(std::span<const uint8_t> bytes) {
  uint8_t* room = Room(bytes.size());
  if (!bytes.empty()) std::memcpy(room, bytes.data(), bytes.size());
}

void CommandStream::Text(std::string_view text) {
  Word(static_cast<uint32_t>(text.size()));
  Bytes({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

void CommandStream::End() { words_[record_ + 1] = static_cast<uint32_t>(size_ - record_); }

void CommandStream::Clear() {
  size_ = 0;
  failed_ = false;
  if (capacity_ > kKeptWords) {
    words_.reset();
    capacity_ = 0;
  }
}

}  // namespace peruse::webgpu

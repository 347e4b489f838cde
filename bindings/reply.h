// JSON replies of Embind methods, {"ok": true, ...} or {"ok": false, "code": string, "message": string}, and a buffer for incoming bytes.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/json_writer.h"
#include "core/base/memory.h"
#include "core/base/status.h"

namespace peruse {

// Shortens an error message to 2,000 bytes: it may list all names of a file, or quote a long one.
inline std::string Shortened(const std::string& message) {
  size_t end = 2000;
  if (message.size() <= end) return message;
  while ((static_cast<uint8_t>(message[end]) & 0xC0u) == 0x80u) --end;  // never splits a character
  return message.substr(0, end) + " ...";
}

inline std::string Failure(const Status& status) {
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  writer.Key("ok");
  writer.Bool(false);
  writer.Key("code");
  writer.String(StatusCodeName(status.code()));
  writer.Key("message");
  writer.String(Shortened(status.message()));
  writer.EndObject();
  return json;
}

inline std::string Success(std::string_view key, std::string_view value) {
  return "{\"ok\":true,\"" + std::string(key) + "\":" + std::string(value) + "}";
}

inline std::string Reply(const Status& status) { return status.ok() ? "{\"ok\":true}" : Failure(status); }

inline std::string Reply(std::string_view key, const Result<std::string>& result) {
  if (!result.ok()) return Failure(result.status());
  // The reply needs memory twice: here, and as the copy that JavaScript receives.
  if (const Status memory = EnsureMemory(SaturatingMultiply(3, result->size()), "the results"); !memory.ok()) {
    return Failure(memory);
  }
  return Success(key, *result);
}

// Buffer for incoming texts and weights. Hosts write to the address that Reserve returns. Unlike string conversions, this copies only once
// and preserves lone surrogates and NUL.
class Staging {
 public:
  Staging() = default;
  ~Staging() { std::free(data_); }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Returns the heap address for the next `bytes` bytes, valid until the next call, or 0 if memory runs out.
  uintptr_t Reserve(uint32_t bytes) {
    if (bytes > capacity_) {
      std::free(data_);
      data_ = static_cast<uint8_t*>(std::malloc(bytes));
      capacity_ = data_ != nullptr ? bytes : 0;
    }
    return reinterpret_cast<uintptr_t>(data_);
  }

  void FreeAbove(uint32_t bytes) {
    if (capacity_ <= bytes) return;
    std::free(std::exchange(data_, nullptr));
    capacity_ = 0;
  }

  // Begins a call of the host, whose input the buffer holds.
  Status Check(uint32_t bytes) const {
    return bytes <= capacity_ ? HoldReserve() : InvalidArgument("more bytes were named than were reserved");
  }
  std::span<const uint8_t> Bytes(uint32_t bytes) const { return {data_, bytes}; }
  std::string_view Text(uint32_t bytes) const { return {reinterpret_cast<const char*>(data_), bytes}; }

 private:
  uint8_t* data_ = nullptr;
  uint32_t capacity_ = 0;
};

}  // namespace peruse

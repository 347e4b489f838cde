// GPU commands, which a host with a GPUDevice replays (web/src/gpu/executor.ts). A stream is a sequence of records of little-endian 32-bit
// words: opcode, length in words including these two, payload. Text and bytes are inline, padded to whole words.
//
//   shader    id, byte count, WGSL
//   pipeline  id, shader id, count, then for each override constant: byte count of its name, name, float32 value
//   buffer    id, byte count                       a zeroed storage buffer
//   free      id
//   write     buffer id, byte offset, byte count, bytes
//   dispatch  pipeline id, x, y, z, count of parameter words, parameters, count of buffers, buffer ids
//   download  buffer id, byte count, address       to that address of the engine's memory, after the run
//   begin                                          starts a run; discards an earlier run without submit
//   submit                                         ends a run; required for the run to execute
//
// The host executes writes while it reads them, but dispatches at submit. So a run must not write to a buffer that an earlier dispatch of
// the same run uses.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/base/status.h"

namespace peruse::webgpu {

enum class Opcode : uint32_t {
  kShader = 1,
  kPipeline = 2,
  kBuffer = 3,
  kFree = 4,
  kWrite = 5,
  kDispatch = 6,
  kDownload = 7,
  kSubmit = 8,
  kBegin = 9,
};

// A growing sequence of command records. If memory runs out, it stops growing and failed() returns true.
class CommandStream {
 public:
  // Opens a record. Following words belong to it until End. Returns false if memory runs out; the caller must then append nothing.
  bool Begin(Opcode opcode, size_t payload_words);
  void Word(uint32_t word);
  void Float(float value);
  void Bytes(std::span<const uint8_t> bytes);
  void Text(std::string_view text);  // byte count and bytes
  uint8_t* Room(size_t bytes);
  void End();

  std::span<const uint32_t> words() const { return {words_.get(), size_}; }
  bool failed() const { return failed_; }
  // Removes all records, and frees memory above 4 MiB.
  void Clear();

 private:
  std::unique_ptr<uint32_t[]> words_;
  size_t size_ = 0;
  size_t capacity_ = 0;
  size_t record_ = 0;  // start of the open record
  bool failed_ = false;
};

constexpr size_t WordsOf(size_t bytes) { return (bytes + 3) / 4; }

}  // namespace peruse::webgpu

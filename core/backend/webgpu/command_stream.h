// What the GPU shall do, as plain words: a host that has a GPUDevice replays them (web/src/gpu/executor.ts).
//
// A stream is a sequence of records, little-endian 32-bit words. The first word of a record is its opcode, the second
// its length in words, these two included. Text and bytes stand in the record, padded to whole words.
//
//   shader    id, byte count, WGSL
//   pipeline  id, shader id, count, then for each override constant: byte count of its name, name, float32 value
//   buffer    id, byte count                       a zeroed storage buffer
//   free      id                                   no longer needed
//   write     buffer id, byte offset, byte count, bytes
//   dispatch  pipeline id, x, y, z, count of parameter words, parameters, count of buffers, buffer ids
//   download  buffer id, byte count, address       to that address of the engine's memory, when the run is over
//   begin                                          start of a run; what an earlier run left without a submit is dropped
//   submit                                         end of a run; without it nothing of the run happens
//
// Writes happen when they are read, the dispatches of a run at its submit: so nothing may be written in a run to a
// buffer that an earlier dispatch of the same run uses.
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

// A growing sequence of records. Without memory it keeps what it has, takes no more, and failed() becomes true.
class CommandStream {
 public:
  // Opens a record; everything appended until End belongs to it. False, and nothing to append, without memory.
  bool Begin(Opcode opcode, size_t payload_words);
  void Word(uint32_t word);
  void Float(float value);
  void Bytes(std::span<const uint8_t> bytes);
  void Text(std::string_view text);  // byte count and bytes
  // Room for that many bytes, padded to words, to be filled by the caller.
  uint8_t* Room(size_t bytes);
  void End();

  std::span<const uint32_t> words() const { return {words_.get(), size_}; }
  bool failed() const { return failed_; }
  // Gives the memory back when it is much.
  void Clear();

 private:
  std::unique_ptr<uint32_t[]> words_;
  size_t size_ = 0;
  size_t capacity_ = 0;
  size_t record_ = 0;  // where the open record starts
  bool failed_ = false;
};

// Words that `bytes` bytes fill.
constexpr size_t WordsOf(size_t bytes) { return (bytes + 3) / 4; }

}  // namespace peruse::webgpu

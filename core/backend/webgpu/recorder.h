// Records dispatches of shaders. Announces each shader, pipeline and buffer to the host once, and reuses workspace buffers.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/backend/webgpu/command_stream.h"
#include "core/backend/webgpu/tiles.h"

namespace peruse::webgpu {

// Defaults are those of WebGPU; the host may report higher limits.
struct Limits {
  uint64_t binding_bytes = 128u << 20;        // maxStorageBufferBindingSize
  uint32_t workgroups_per_dimension = 65535;  // maxComputeWorkgroupsPerDimension
  bool packed_dot = false;                    // WGSL has packed_4x8_integer_dot_product
  bool subgroups = false;                     // the device has subgroups, and WGSL has subgroup_id
  Tuning tuning = TuningFor("");
};

// Returns the smallest of 16, 32, 48, 64, 96, 128, 192, ... that is not below `length`. Texts with equal results share buffers.
int32_t LengthBucket(int32_t length);

struct Constant {
  const char* name;
  float value;
};

using Constants = std::vector<Constant>;

struct Grid {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;
};

class Recorder {
 public:
  static constexpr int32_t kNoBuffer = -1;

  explicit Recorder(const Limits& limits) : limits_(limits) {}

  const Limits& limits() const { return limits_; }

  // Creates a permanent zeroed buffer. Returns kNoBuffer above the binding limit, or if memory runs out.
  int32_t CreateBuffer(uint64_t bytes);
  void FreeBuffer(int32_t buffer);
  // Borrows a workspace buffer of at least `bytes` bytes until Give. `fresh` means a buffer that this run has not used yet, so that the
  // host may write to it.
  int32_t Take(uint64_t bytes, bool fresh);
  void Give(int32_t buffer);
  void Write(int32_t buffer, uint64_t offset, std::span<const uint8_t> bytes);
  // Like Write, but the caller fills the returned memory of `bytes` bytes (a multiple of 4). Returns nullptr if memory runs out.
  uint8_t* WriteRoom(int32_t buffer, uint64_t offset, size_t bytes);

  void BeginRun();
  // Announces a pipeline, so that the host compiles it before a dispatch needs it.
  void Expect(std::string_view shader, const Constants& constants) { PipelineId(shader, constants); }
  // `shader` is the name of a .wgsl file in this folder, plus an optional suffix: "+dot4" uses WGSL's
  // built-in dot4, "+bytes" a portable one. `parameters` is the shader's Params struct. The last buffer is the output.
  template <typename Parameters>
  void Dispatch(std::string_view shader, const Constants& constants, const Parameters& parameters,
                std::initializer_list<int32_t> buffers, Grid grid) {
    static_assert(sizeof(Parameters) % 4 == 0 && sizeof(Parameters) <= 256);
    DispatchWords(shader, constants, {reinterpret_cast<const uint8_t*>(&parameters), sizeof(Parameters)}, buffers,
                  grid);
  }
  void Download(int32_t buffer, std::span<float> destination);
  void EndRun();
  int32_t dispatches() const { return dispatches_; }  // number of dispatches in this run

  CommandStream& stream() { return stream_; }
  const CommandStream& stream() const { return stream_; }

 private:
  struct Slot {
    int32_t buffer;
    uint64_t bytes;
    bool taken;
    int64_t last_run;  // number of the last run that used the buffer
  };

  void DispatchWords(std::string_view shader, const Constants& constants, std::span<const uint8_t> parameters,
                     std::initializer_list<int32_t> buffers, Grid grid);
  uint32_t ShaderId(std::string_view name);
  uint32_t PipelineId(std::string_view shader, const Constants& constants);

  Limits limits_;
  CommandStream stream_;
  std::vector<Slot> slots_;
  std::map<std::string, uint32_t, std::less<>> shaders_;
  // Ids of pipelines, by shader name followed by the bytes of the constants' values.
  std::map<std::string, uint32_t, std::less<>> pipelines_;
  int32_t next_buffer_ = 0;
  int64_t run_ = 0;
  int32_t dispatches_ = 0;
};

// Returns the WGSL of a file of this folder (cmake/shaders.cmake). The text is empty if that file does not exist.
std::string_view ShaderText(std::string_view name);

}  // namespace peruse::webgpu

#include "core/backend/webgpu/recorder.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace peruse::webgpu {
namespace {

// Text to prepend to a shader, for each suffix of a shader's name.
constexpr std::pair<std::string_view, std::string_view> kPreludes[] = {
    {"+dot4",
     "requires packed_4x8_integer_dot_product;\nfn dot4(a: u32, b: u32) -> i32 { return dot4I8Packed(a, b); }\n"},
    {"+bytes",
     "fn bytes(a: u32) -> vec4i { return bitcast<vec4i>(vec4u(a << 24u, a << 16u, a << 8u, a)) >> vec4u(24u); }\n"
     "fn dot4(a: u32, b: u32) -> i32 { return dot(bytes(a), bytes(b)); }\n"},
    // Queries of a thread in attention_tile.wgsl.
    {"+four",
     "alias Each = vec4f;\nconst EACH = 4u;\nfn each(v: vec4f) -> Each { return v; }\n"
     "fn four_of(v: Each) -> vec4f { return v; }\n"},
    {"+two",
     "alias Each = vec2f;\nconst EACH = 2u;\nfn each(v: vec4f) -> Each { return v.xy; }\n"
     "fn four_of(v: Each) -> vec4f { return v.xyxy; }\n"},
    {"", ""},
};

constexpr uint64_t kSmallestBuffer = 256;  // bytes

// Rounds up to a power of two, or halfway between two powers, so that texts of different lengths can reuse buffers.
uint64_t SizeClass(uint64_t bytes) {
  const uint64_t power = std::bit_ceil(std::max(bytes, kSmallestBuffer));
  const uint64_t between = power / 4 * 3;
  return bytes <= between ? between : power;
}

}  // namespace

int32_t LengthBucket(int32_t length) {
  if (length <= 16) return 16;
  const uint32_t power = std::bit_ceil(static_cast<uint32_t>(length));
  const uint32_t between = power / 4 * 3;
  return static_cast<int32_t>(between >= 48 && static_cast<uint32_t>(length) <= between ? between : power);
}

int32_t Recorder::CreateBuffer(uint64_t bytes) {
  if (bytes > limits_.binding_bytes) return kNoBuffer;
  if (!stream_.Begin(Opcode::kBuffer, 2)) return kNoBuffer;
  const int32_t buffer = next_buffer_++;
  stream_.Word(static_cast<uint32_t>(buffer));
  stream_.Word(static_cast<uint32_t>(std::max<uint64_t>((bytes + 3) / 4 * 4, 16)));
  stream_.End();
  return buffer;
}

int32_t Recorder::Take(uint64_t bytes, bool fresh) {
  if (bytes > limits_.binding_bytes) return kNoBuffer;
  const uint64_t size = std::min(SizeClass(bytes), limits_.binding_bytes);
  for (Slot& slot : slots_) {
    if (slot.taken || slot.bytes != size || (fresh && slot.last_run == run_)) continue;
    slot.taken = true;
    slot.last_run = run_;
    return slot.buffer;
  }
  const int32_t buffer = CreateBuffer(size);
  if (buffer != kNoBuffer) slots_.push_back({buffer, size, true, run_});
  return buffer;
}

void Recorder::Give(int32_t buffer) {
  if (buffer == kNoBuffer) return;
  const auto slot = std::find_if(slots_.begin(), slots_.end(), [&](const Slot& s) { return s.buffer == buffer; });
  PERUSE_CHECK(slot != slots_.end() && slot->taken);
  slot->taken = false;
}

uint8_t* Recorder::WriteRoom(int32_t buffer, uint64_t offset, size_t bytes) {
  PERUSE_CHECK(bytes % 4 == 0 && offset % 4 == 0);
  if (!stream_.Begin(Opcode::kWrite, 3 + WordsOf(bytes))) return nullptr;
  stream_.Word(static_cast<uint32_t>(buffer));
  stream_.Word(static_cast<uint32_t>(offset));
  stream_.Word(static_cast<uint32_t>(bytes));
  uint8_t* room = stream_.Room(bytes);
  stream_.End();
  return room;
}

void Recorder::FreeBuffer(int32_t buffer) {
  if (!stream_.Begin(Opcode::kFree, 1)) return;
  stream_.Word(static_cast<uint32_t>(buffer));
  stream_.End();
}

void Recorder::Write(int32_t buffer, uint64_t offset, std::span<const uint8_t> bytes) {
  uint8_t* room = WriteRoom(buffer, offset, bytes.size());
  if (room != nullptr) std::copy(bytes.begin(), bytes.end(), room);
}

uint32_t Recorder::ShaderId(std::string_view name) {
  const auto found = shaders_.find(name);
  if (found != shaders_.end()) return found->second;
  const size_t suffix = std::min(name.find('+'), name.size());
  const auto prelude = std::find_if(std::begin(kPreludes), std::end(kPreludes),
                                    [&](const auto& known) { return known.first == name.substr(suffix); });
  PERUSE_CHECK(prelude != std::end(kPreludes));
  const std::string_view body = ShaderText(name.substr(0, suffix));
  PERUSE_CHECK(!body.empty());
  const std::string text = std::string(prelude->second).append(body);
  const auto id = static_cast<uint32_t>(shaders_.size());
  if (!stream_.Begin(Opcode::kShader, 2 + WordsOf(text.size()))) return id;
  stream_.Word(id);
  stream_.Text(text);
  stream_.End();
  shaders_.emplace(name, id);
  return id;
}

uint32_t Recorder::PipelineId(std::string_view shader, const Constants& constants) {
  std::string key(shader);
  size_t words = 3;
  for (const Constant& constant : constants) {
    key += ' ' + std::to_string(std::bit_cast<uint32_t>(constant.value));
    words += 2 + WordsOf(std::string_view(constant.name).size());
  }
  const auto found = pipelines_.find(key);
  if (found != pipelines_.end()) return found->second;
  const uint32_t shader_id = ShaderId(shader);
  const auto id = static_cast<uint32_t>(pipelines_.size());
  if (!stream_.Begin(Opcode::kPipeline, words)) return id;
  stream_.Word(id);
  stream_.Word(shader_id);
  stream_.Word(static_cast<uint32_t>(constants.size()));
  for (const Constant& constant : constants) {
    stream_.Text(constant.name);
    stream_.Float(constant.value);
  }
  stream_.End();
  pipelines_.emplace(std::move(key), id);
  return id;
}

void Recorder::BeginRun() {
  ++run_;
  dispatches_ = 0;
  if (stream_.Begin(Opcode::kBegin, 0)) stream_.End();
}

void Recorder::DispatchWords(std::string_view shader, const Constants& constants, std::span<const uint8_t> parameters,
                             std::initializer_list<int32_t> buffers, Grid grid) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  const uint32_t most = limits_.workgroups_per_dimension;
  PERUSE_CHECK(grid.x <= most && grid.y <= most && grid.z <= most);
  const uint32_t pipeline = PipelineId(shader, constants);
  if (!stream_.Begin(Opcode::kDispatch, 6 + WordsOf(parameters.size()) + buffers.size())) return;
  stream_.Word(pipeline);
  stream_.Word(grid.x);
  stream_.Word(grid.y);
  stream_.Word(grid.z);
  stream_.Word(static_cast<uint32_t>(WordsOf(parameters.size())));
  stream_.Bytes(parameters);
  stream_.Word(static_cast<uint32_t>(buffers.size()));
  for (int32_t buffer : buffers) stream_.Word(static_cast<uint32_t>(buffer));
  stream_.End();
  ++dispatches_;
}

void Recorder::Download(int32_t buffer, std::span<float> destination) {
  if (!stream_.Begin(Opcode::kDownload, 3)) return;
  stream_.Word(static_cast<uint32_t>(buffer));
  stream_.Word(static_cast<uint32_t>(destination.size_bytes()));
  stream_.Word(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(destination.data())));
  stream_.End();
}

void Recorder::EndRun() {
  if (stream_.Begin(Opcode::kSubmit, 0)) stream_.End();
}

}  // namespace peruse::webgpu

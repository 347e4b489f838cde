#include <algorithm>
#include <string>

#include "core/backend/webgpu/linear.h"

namespace peruse::webgpu {
namespace {

constexpr uint32_t kQueryTile = 16;    // QUERIES of attention_tile.wgsl
constexpr uint32_t kHeadColumns = 64;  // COLUMNS of attention_tile.wgsl
constexpr int32_t kHeadStep = 16;      // STEP of attention_tile.wgsl

std::string_view AttentionShader(Recording& r, const Program& program, const ops::Attention& op, int32_t head_dim) {
  const bool aligned = head_dim % kHeadStep == 0 && ReadsVec4(program, op.query) && ReadsVec4(program, op.key) &&
                       ReadsVec4(program, op.value) && ReadsVec4(program, op.out);
  if (r.recorder().limits().tuning.few_registers) return aligned ? "attention_aligned+two" : "attention+two";
  return aligned ? "attention_aligned+four" : "attention+four";
}

// Position terms of DeBERTa for the heads [first_head, first_head + heads).
struct PositionProducts {
  int32_t first_head = 0;
  int32_t heads = 0;
  int32_t first_slot = 0;
  int32_t slots = 0;       // number of slots from first_slot on that some distance reaches
  int32_t most_slots = 0;  // maximum of `slots` over all text lengths that share buffers (LengthBucket)
  int32_t to_position = Recorder::kNoBuffer;  // query . position_key     [rows, heads, slots]
  int32_t to_content = Recorder::kNoBuffer;   // key . position_query     [rows, heads, slots]
  int32_t slot_buffer = Recorder::kNoBuffer;
};

template <typename Params>
void SetPositions(Recording& r, const ops::Attention& op, const PositionProducts& products, Params& params) {
  params.first_head = static_cast<uint32_t>(products.first_head);
  params.position_stride = static_cast<uint32_t>(products.heads * products.slots);
  params.slots = static_cast<uint32_t>(products.slots);
  params.first_slot = static_cast<uint32_t>(products.first_slot);
  params.reach = static_cast<uint32_t>(r.batch().longest());
  params.has_position_key = op.position_key.valid();
  params.has_position_query = op.position_query.valid();
  params.has_position_bias = op.position_bias.valid();
  if (op.position_bias.valid()) params.bias = r.Of(op.position_bias).place;
}

// Sets which keys a query attends to. The shaders multiply by 65536 / group instead of dividing by the group: exact for up to 65536 / group heads.
template <typename Params>
void SetKeys(Recording& r, const ops::Attention& op, Params& params) {
  const auto group = static_cast<uint32_t>(r.at(op.query).cols / r.at(op.key).cols);
  PERUSE_CHECK(static_cast<uint32_t>(op.heads) * group <= 65536);
  params.groups = (65536 + group - 1) / group;
  params.before = static_cast<uint32_t>(op.before);
  params.after = static_cast<uint32_t>(op.after);
  params.key_limit = static_cast<uint32_t>(r.batch().key_limit());
}

// Position buffers in the shaders' order: slots, to_position, to_content. Absent ones are `unused`.
struct PositionBuffers {
  int32_t slots, to_position, to_content;
};
PositionBuffers BuffersOf(Recording& r, const ops::Attention& op, const PositionProducts& products, int32_t unused) {
  PositionBuffers buffers = {products.slot_buffer, products.to_position, products.to_content};
  if (op.position_bias.valid()) buffers.to_position = r.Of(op.position_bias).buffer;
  for (int32_t* buffer : {&buffers.slots, &buffers.to_position, &buffers.to_content}) {
    if (*buffer == Recorder::kNoBuffer) *buffer = unused;
  }
  return buffers;
}

bool HasProducts(const ops::Attention& op) { return op.position_key.valid() || op.position_query.valid(); }

LinearPipeline PositionsPipeline(const Program& program, Value x, Value table, int32_t head_dim) {
  return {.aligned = head_dim % kTileDepth == 0 && ReadsVec4(program, x) && ReadsVec4(program, table)};
}

// Computes a position term for every row: out[r, h, s] = x[r, h] . table[first_slot + s, h]. x is a view of x_value, or a copy.
void MultiplyPositions(Recording& r, Value x_value, const Recording::View& x, Value table_value, int32_t head_dim,
                       const PositionProducts& products, int32_t out) {
  const Recording::View table = r.Of(table_value);
  const auto slots = static_cast<uint32_t>(products.slots);
  const auto depth = static_cast<uint32_t>(head_dim);
  const auto heads = static_cast<uint32_t>(products.heads);
  const uint32_t first_column = static_cast<uint32_t>(products.first_head) * depth;
  LinearParams params = {};
  params.rows = static_cast<uint32_t>(r.batch().rows());
  params.depth = depth;
  params.width = slots;
  params.x_first = x.place.first + first_column;
  params.x_stride = x.place.stride;
  params.x_group = depth;
  params.w_first = static_cast<uint32_t>(products.first_slot) * table.place.stride + table.place.first + first_column;
  params.w_stride = table.place.stride;
  params.w_group = depth;
  params.out_stride = heads * slots;
  params.out_group = slots;
  DispatchLinear(r, PositionsPipeline(r.plan().program, x_value, table_value, head_dim), params, heads,
                 {x.buffer, table.buffer, table.buffer, x.buffer, out});
}

void WriteProbabilities(Recording& r, const ops::Attention& op, const PositionProducts& products) {
  const Recording::View query = r.Operand(op.query, op.probabilities);
  const Recording::View key = r.Operand(op.key, op.probabilities);
  const int32_t starts = r.Starts();
  if (r.failed()) return;
  const Recording::View result = r.Of(op.probabilities);
  ProbabilitiesParams params = {};
  params.scale = op.scale;
  params.query = query.place;
  params.key = key.place;
  params.out = result.place;
  params.heads = static_cast<uint32_t>(op.heads);
  SetPositions(r, op, products, params);
  params.longest = static_cast<uint32_t>(r.batch().longest());
  params.head_dim = static_cast<uint32_t>(r.at(op.query).cols / op.heads);
  SetKeys(r, op, params);
  const PositionBuffers positions = BuffersOf(r, op, products, starts);
  r.recorder().Dispatch(
      "probabilities", {}, params,
      {starts, query.buffer, key.buffer, positions.slots, positions.to_position, positions.to_content, result.buffer},
      {CeilDivide(r.batch().longest(), kThreads), static_cast<uint32_t>(products.heads),
       static_cast<uint32_t>(r.batch().sequences())});
}

void AttendHeads(Recording& r, const ops::Attention& op, PositionProducts products) {
  const Recording::View query = r.Operand(op.query, op.out);
  const Recording::View key = r.Operand(op.key, op.out);
  const Recording::View value = r.Operand(op.value, op.out);
  const int32_t head_dim = r.at(op.query).cols / op.heads;
  const int32_t starts = r.Starts();
  const int32_t width = products.heads * products.most_slots;
  if (op.position_key.valid()) products.to_position = r.TakeMatrix(r.batch().rows(), width).buffer;
  if (op.position_query.valid()) products.to_content = r.TakeMatrix(r.batch().rows(), width).buffer;
  if (r.failed()) return;
  if (op.position_key.valid()) {
    MultiplyPositions(r, op.query, query, op.position_key, head_dim, products, products.to_position);
  }
  if (op.position_query.valid()) {
    MultiplyPositions(r, op.key, key, op.position_query, head_dim, products, products.to_content);
  }

  const Recording::View result = r.Of(op.out);
  AttentionParams params = {};
  params.scale = op.scale;
  params.query = query.place;
  params.key = key.place;
  params.value = value.place;
  params.out = result.place;
  SetPositions(r, op, products, params);
  params.head_dim = static_cast<uint32_t>(head_dim);
  SetKeys(r, op, params);
  const PositionBuffers positions = BuffersOf(r, op, products, starts);
  const std::string_view shader = AttentionShader(r, r.plan().program, op, head_dim);
  for (const Place& place : {params.query, params.key, params.value, params.out}) {
    PERUSE_CHECK(shader.starts_with("attention+") || (place.first % 4 == 0 && place.stride % 4 == 0));
  }
  r.recorder().Dispatch(shader, {}, params,
                        {starts, query.buffer, key.buffer, value.buffer, positions.slots, positions.to_position,
                         positions.to_content, result.buffer},
                        {CeilDivide(r.batch().longest(), kQueryTile),
                         static_cast<uint32_t>(products.heads) * CeilDivide(head_dim, kHeadColumns),
                         static_cast<uint32_t>(r.batch().sequences())});
  if (op.probabilities.valid()) WriteProbabilities(r, op, products);
  r.GiveBack(products.to_position);
  r.GiveBack(products.to_content);
}

// Only models with mixtures of experts have sinks, and these do not run on the GPU either.
Status RefuseSinks() { return Unsupported("attention sinks do not run on the GPU: load with device 'cpu'"); }

}  // namespace

template <>
void Record(Recording& r, const ops::Attention& op) {
  if (op.sinks.valid()) return r.Fail(RefuseSinks());
  const RaggedBatch& batch = r.batch();
  if (batch.sequences() > static_cast<int32_t>(r.recorder().limits().workgroups_per_dimension)) {
    return r.Fail(InvalidArgument("a batch of " + std::to_string(batch.sequences()) + " texts is too large for a GPU"));
  }
  PositionProducts products;
  products.heads = op.heads;
  if (op.position_bias.valid()) products.slot_buffer = r.Slots(op.slots);
  if (HasProducts(op)) {
    const std::span<const int32_t> slots = r.at(op.slots);
    const auto [lowest, highest] = std::minmax_element(slots.begin(), slots.end());
    products.first_slot = *lowest;
    products.slots = *highest - *lowest + 1;
    const int32_t rows = r.at(op.position_key.valid() ? op.position_key : op.position_query).rows;
    products.most_slots = std::max(products.slots, std::min(rows, 2 * LengthBucket(batch.longest())));
    products.slot_buffer = r.Slots(op.slots);
    const int64_t head_bytes = int64_t{batch.rows()} * products.most_slots * 4;
    const int64_t fit = static_cast<int64_t>(r.recorder().limits().binding_bytes) / head_bytes;
    products.heads = static_cast<int32_t>(std::clamp<int64_t>(fit, 1, op.heads));
  }
  const int32_t heads_at_once = products.heads;
  for (; products.first_head < op.heads && !r.failed(); products.first_head += heads_at_once) {
    products.heads = std::min(heads_at_once, op.heads - products.first_head);
    AttendHeads(r, op, products);
  }
}

template <>
void Expect(Recording& r, const Program& program, const ops::Attention& op) {
  if (op.sinks.valid()) return r.Fail(RefuseSinks());
  const int32_t head_dim = program.info(op.query).cols.factor / op.heads;
  r.recorder().Expect(AttentionShader(r, program, op, head_dim), {});
  if (op.position_key.valid()) ExpectLinear(r, PositionsPipeline(program, op.query, op.position_key, head_dim));
  if (op.position_query.valid()) ExpectLinear(r, PositionsPipeline(program, op.key, op.position_query, head_dim));
}

}  // namespace peruse::webgpu

// Attention and its position terms.
#include <algorithm>
#include <string>

#include "core/backend/shape_check.h"
#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {
namespace {

constexpr int32_t kWidestHead = 1024;  // that attention.wgsl's workgroup memory holds

uint32_t QueryTile(int32_t head_dim) { return static_cast<uint32_t>(std::clamp(1024 / head_dim, 1, 16)); }

Constants AttentionConstants(int32_t head_dim) {
  return {{"HEAD_DIM", static_cast<float>(head_dim)},
          {"QUERIES", static_cast<float>(QueryTile(head_dim))},
          {"KEYS", static_cast<float>(std::clamp(2048 / (head_dim + 1), 1, 32))}};
}

}  // namespace

void Recording::PrepareAttention(int32_t head_dim) {
  if (head_dim <= kWidestHead) recorder_.Expect("attention", AttentionConstants(head_dim));
}

void Recording::Attention(const AttentionArgs& args, const RaggedBatch& batch, Tensor out) {
  DisentangledAttention(args, RelativePositions(), batch, out);
}

void Recording::DisentangledAttention(const AttentionArgs& args, const RelativePositions& positions,
                                      const RaggedBatch& batch, Tensor out) {
  CheckAttention(args, batch, out);
  CheckPositions(args, positions, batch);
  if (failed()) return;
  if (batch.sequences() > static_cast<int32_t>(recorder_.limits().workgroups_per_dimension)) {
    return Fail(InvalidArgument("a batch of " + std::to_string(batch.sequences()) + " texts is too large for a GPU"));
  }
  const bool has_key = positions.position_key.valid();
  const bool has_query = positions.position_query.valid();
  PositionProducts products;
  products.heads = args.heads;
  if (has_key || has_query) {
    const auto live = positions.slots.subspan(static_cast<size_t>(positions.reach - batch.longest()),
                                              2 * static_cast<size_t>(batch.longest()) - 1);
    const auto [lowest, highest] = std::minmax_element(live.begin(), live.end());
    products.first_slot = *lowest;
    products.slots = *highest - *lowest + 1;
    const Tensor& table = has_key ? positions.position_key : positions.position_query;
    products.most_slots = std::max(products.slots, std::min(table.rows, 2 * LengthBucket(batch.longest())));
    products.slot_buffer = Slots(positions);
    const int64_t head_bytes = int64_t{batch.rows()} * products.most_slots * 4;
    const int64_t fit = static_cast<int64_t>(recorder_.limits().binding_bytes) / head_bytes;
    products.heads = static_cast<int32_t>(std::clamp<int64_t>(fit, 1, args.heads));
  }
  const int32_t heads_at_once = products.heads;
  for (; products.first_head < args.heads && !failed(); products.first_head += heads_at_once) {
    products.heads = std::min(heads_at_once, args.heads - products.first_head);
    AttendHeads(args, positions, products, batch, out);
  }
}

// One position term of some heads for every row: out[r, h, s] = x[r, h] . table[first_slot + s, h].
void Recording::Product(const View& x, const View& table, int32_t head_dim, const PositionProducts& products,
                        int32_t rows, int32_t out) {
  const auto slots = static_cast<uint32_t>(products.slots);
  const auto depth = static_cast<uint32_t>(head_dim);
  const auto heads = static_cast<uint32_t>(products.heads);
  const uint32_t first_column = static_cast<uint32_t>(products.first_head) * depth;
  LinearParams params = {};
  params.rows = static_cast<uint32_t>(rows);
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
  DispatchLinear({}, params, heads, {x.buffer, table.buffer, table.buffer, x.buffer, out});
}

void Recording::AttendHeads(const AttentionArgs& args, const RelativePositions& positions,
                            const PositionProducts& some_products, const RaggedBatch& batch, Tensor out) {
  PositionProducts products = some_products;
  const View query = Input(args.query, out);
  const View key = Input(args.key, out);
  const View value = Input(args.value, out);
  const int32_t head_dim = args.query.cols / args.heads;
  if (head_dim > kWidestHead)
    return Fail(Unsupported("attention heads wider than 1024 are not there for device webgpu"));
  const int32_t starts = Starts(batch);
  const bool has_key = positions.position_key.valid();
  const bool has_query = positions.position_query.valid();
  const int32_t width = products.heads * products.most_slots;
  if (has_key) products.to_position = TakeMatrix(batch.rows(), width).buffer;
  if (has_query) products.to_content = TakeMatrix(batch.rows(), width).buffer;
  if (failed()) return;
  if (has_key) {
    Product(query, Of(positions.position_key), head_dim, products, batch.rows(), products.to_position);
  }
  if (has_query) {
    Product(key, Of(positions.position_query), head_dim, products, batch.rows(), products.to_content);
  }

  const View result = Of(out);
  AttentionParams params = {};
  params.scale = args.scale;
  params.query = query.place;
  params.key = key.place;
  params.value = value.place;
  params.out = result.place;
  params.first_head = static_cast<uint32_t>(products.first_head);
  params.position_stride = static_cast<uint32_t>(products.heads * products.slots);
  params.slots = static_cast<uint32_t>(products.slots);
  params.first_slot = static_cast<uint32_t>(products.first_slot);
  params.reach = static_cast<uint32_t>(positions.reach);
  params.has_position_key = has_key;
  params.has_position_query = has_query;
  recorder_.Dispatch(
      "attention", AttentionConstants(head_dim), params,
      {starts, query.buffer, key.buffer, value.buffer, has_key || has_query ? products.slot_buffer : starts,
       has_key ? products.to_position : query.buffer, has_query ? products.to_content : query.buffer, result.buffer},
      {CeilDivide(batch.longest(), QueryTile(head_dim)), static_cast<uint32_t>(products.heads),
       static_cast<uint32_t>(batch.sequences())});
  if (args.probabilities.valid()) WriteProbabilities(args, positions, products, batch);
  GiveBack(products.to_position);
  GiveBack(products.to_content);
}

void Recording::WriteProbabilities(const AttentionArgs& args, const RelativePositions& positions,
                                   const PositionProducts& products, const RaggedBatch& batch) {
  const View query = Input(args.query, args.probabilities);
  const View key = Input(args.key, args.probabilities);
  const int32_t starts = Starts(batch);
  if (failed()) return;
  const bool has_key = positions.position_key.valid();
  const bool has_query = positions.position_query.valid();
  const View result = Of(args.probabilities);
  ProbabilitiesParams params = {};
  params.scale = args.scale;
  params.query = query.place;
  params.key = key.place;
  params.out = result.place;
  params.heads = static_cast<uint32_t>(args.heads);
  params.first_head = static_cast<uint32_t>(products.first_head);
  params.position_stride = static_cast<uint32_t>(products.heads * products.slots);
  params.slots = static_cast<uint32_t>(products.slots);
  params.first_slot = static_cast<uint32_t>(products.first_slot);
  params.reach = static_cast<uint32_t>(positions.reach);
  params.has_position_key = has_key;
  params.has_position_query = has_query;
  params.longest = static_cast<uint32_t>(batch.longest());
  params.head_dim = static_cast<uint32_t>(args.query.cols / args.heads);
  recorder_.Dispatch(
      "probabilities", {}, params,
      {starts, query.buffer, key.buffer, has_key || has_query ? products.slot_buffer : starts,
       has_key ? products.to_position : query.buffer, has_query ? products.to_content : query.buffer, result.buffer},
      {CeilDivide(batch.longest(), kThreads), static_cast<uint32_t>(products.heads),
       static_cast<uint32_t>(batch.sequences())});
}

}  // namespace peruse::webgpu

// A task is one head of one text, or a part of its queries. It packs the head's keys and values once, then processes tiles of queries,
// whose scores stay in the L2 cache: content scores, position terms, softmax, context. With a window, each tile packs the keys that its
// queries reach.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/backend/cpu/relative_positions.h"
#include "core/backend/cpu/runner.h"
#include "core/cpu/arena.h"
#include "core/cpu/gemm.h"
#include "core/cpu/simd.h"

namespace peruse::cpu {
namespace {

using namespace simd;

constexpr int64_t kMostQueries = 72;  // queries per tile
// Queries per tile with a window: fewer, because all queries are scored against all keys that any of them reaches.
constexpr int64_t kWindowQueries = 36;
constexpr int64_t kSlack = 16;  // floats after each row, for over-reads and alignment

// Returns the number of queries per tile. Splits the text equally: the position terms of a small last tile would cost almost as much as
// those of a large one.
int64_t QueryTile(int64_t length) {
  const int64_t most = kMostQueries / TileRows() * TileRows();
  const int64_t tiles = (length + most - 1) / most;
  return RoundUp((length + tiles - 1) / tiles, TileRows());
}

struct AttentionBlocks {
  int64_t Tile(int64_t length) const { return Bands(length) ? RoundUp(kWindowQueries, TileRows()) : QueryTile(length); }
  // Whether the window is so narrow that a tile of queries needs only some of the text's keys.
  bool Bands(int64_t length) const { return BandKeys() < length; }
  int64_t BandKeys() const { return RoundUp(kWindowQueries, TileRows()) + int64_t{op->before} + int64_t{op->after}; }

  const ops::Attention* op;
  Block query;           // [rows, heads * head_dim]
  Block key, value;      // each [rows, kv_heads * head_dim]
  Block position_key;    // [slots, heads * head_dim]
  Block position_query;  // [slots, heads * head_dim]
  Block position_bias;   // [slots, heads]
  Block sinks;           // [1, heads]
  Block probabilities;
  Block out;  // [rows, heads * head_dim]
  int32_t heads = 0;
  float scale = 1;
};

// Layout of a task's scratch buffer. Parts are given by their offsets in floats.
struct ScratchLayout {
  ScratchLayout(const AttentionBlocks& blocks, int64_t longest)
      : head_dim(blocks.query.cols / blocks.heads),
        row(RoundUp(std::min(longest, blocks.BandKeys()), kSlack) + 2 * kSlack) {
    const int64_t most_keys = std::min(longest, blocks.BandKeys());
    const int64_t distances = 2 * longest - 1;
    const int64_t tile_distances = longest + kMostQueries - 1;
    keys = Add(PackedFloats(head_dim, most_keys));
    values = Add(PackedFloats(most_keys, head_dim));
    scores = Add(kMostQueries * row);
    if (blocks.position_key.data != nullptr) {
      position_keys = Add(PackedFloats(head_dim, distances));
      key_band = Add(TileRows() * (row + TileRows() + TileCols()));
    }
    if (blocks.position_query.data != nullptr) {
      position_queries = Add(distances * head_dim + kSlack);
      // Upper bound: each group of TileRows() runs stores the keys that its distances reach from the tile. These are the tile's rows, the
      // distances of the group (tile_distances in all groups together), and alignment to panels.
      query_band =
          Add((tile_distances + TileRows()) * (kMostQueries + TileCols() + kSlack) + TileRows() * tile_distances);
      diagonals = Add(tile_distances + kSlack);
    }
    if (blocks.position_bias.data != nullptr) bias_band = Add(distances + kSlack);
  }

  int64_t Add(int64_t floats) { return std::exchange(total, total + RoundUp(floats, kSlack)); }

  int64_t head_dim;
  int64_t row;                   // floats between rows of scores
  int64_t keys = 0;              // packed [head_dim, keys]
  int64_t values = 0;            // packed [keys, head_dim]
  int64_t scores = 0;            // [kMostQueries, row]
  int64_t position_keys = 0;     // packed [head_dim, runs], runs in descending order of distance
  int64_t key_band = 0;          // [TileRows(), runs]: products of queries and position keys
  int64_t position_queries = 0;  // [runs, head_dim], not packed
  int64_t query_band = 0;        // position queries times keys
  int64_t diagonals = 0;         // for each distance in a tile: the position in query_band of the run that contains it
  int64_t bias_band = 0;         // biases by run, in descending order of distance
  int64_t total = 0;
};

class HeadTask {
 public:
  HeadTask(const AttentionBlocks& blocks, const PositionRuns& runs, const ScratchLayout& layout, float* scratch)
      : blocks_(blocks),
        runs_(runs),
        layout_(layout),
        d_(layout.head_dim),
        keys_(scratch + layout.keys),
        values_(scratch + layout.values),
        scores_(scratch + layout.scores),
        position_keys_(scratch + layout.position_keys),
        key_band_(scratch + layout.key_band),
        position_queries_(scratch + layout.position_queries),
        query_band_(scratch + layout.query_band),
        diagonals_(reinterpret_cast<int32_t*>(scratch + layout.diagonals)),
        bias_band_(scratch + layout.bias_band) {}

  // Computes the results of the queries [first, last) of a head, in the text of `length` rows that starts at row `start`. Its first `keys`
  // rows are keys.
  void Run(int64_t start, int64_t length, int64_t keys, int64_t longest, int64_t head, int64_t first, int64_t last) {
    start_ = start;
    length_ = length;
    end_key_ = static_cast<int32_t>(keys);
    column_ = head * d_;
    key_column_ = head / (blocks_.query.cols / blocks_.key.cols) * d_;
    const bool bands = blocks_.Bands(length);
    if (!bands) PackKeysAndValues(0, length);
    if (blocks_.position_key.data != nullptr) PackPositionKeys();
    if (blocks_.position_query.data != nullptr) GatherPositionQueries();
    if (blocks_.position_bias.data != nullptr) GatherBiases(head);
    const int64_t tile = blocks_.Tile(length);
    for (int64_t i = first; i < last; i += tile) {
      const int64_t rows = std::min(tile, last - i);
      if (bands) PackKeysAndValues(FirstKey(i), EndKey(i + rows - 1));
      Gemm(Query(i), blocks_.query.stride, rows, d_, keys_, key_count_, scores_, layout_.row);
      if (blocks_.position_key.data != nullptr) AddContentToPosition(i, rows);
      if (blocks_.position_query.data != nullptr) AddPositionToContent(i, rows);
      if (blocks_.position_bias.data != nullptr) AddBiases(i, rows);
      SoftmaxAndContext(i, rows, longest, head);
    }
  }

 private:
  const float* Query(int64_t i) const { return blocks_.query.row(start_ + i) + column_; }
  int64_t FirstKey(int64_t i) const { return blocks_.op->FirstKey(static_cast<int32_t>(i)); }
  int64_t EndKey(int64_t i) const { return blocks_.op->EndKey(static_cast<int32_t>(i), end_key_); }

  void PackKeysAndValues(int64_t first, int64_t end) {
    first_key_ = first;
    key_count_ = end - first;
    ZeroBias(d_, key_count_, keys_);
    ZeroLastPanel(d_, key_count_, keys_);
    PackColumns(blocks_.key.row(start_ + first) + key_column_, blocks_.key.stride, d_, 0, key_count_, keys_);
    PackMatrix(blocks_.value.row(start_ + first) + key_column_, blocks_.value.stride, key_count_, d_, values_);
  }

  // Zeroes the unpacked columns of the last panel: the kernel computes with them, although their results are dropped.
  static void ZeroLastPanel(int64_t k, int64_t n, float* packed) {
    if (n % TileCols() == 0) return;
    const int64_t last = PanelOffset(k, n / TileCols() * TileCols());
    std::fill_n(packed + last, PackedFloats(k, TileCols()), 0.0f);
  }

  // Column c of the packed matrix is the position key of run last_run - c. Consecutive keys have descending distances from a query, so
  // their scores are adjacent in this order.
  void PackPositionKeys() {
    const int64_t first_run = runs_.run(-(length_ - 1));
    last_run_ = runs_.run(length_ - 1);
    const int64_t count = last_run_ - first_run + 1;
    ZeroBias(d_, count, position_keys_);
    ZeroLastPanel(d_, count, position_keys_);
    for (int64_t c = 0, end; c < count; c = end) {
      const int64_t slot = runs_.slot(last_run_ - c);
      for (end = c + 1; end < count && runs_.slot(last_run_ - end) == slot - (end - c);) ++end;
      const Block& table = blocks_.position_key;
      PackColumns(table.row(slot) + column_, -table.stride, d_, c, end - c, position_keys_);
    }
  }

  void GatherPositionQueries() {
    first_run_ = runs_.run(-(length_ - 1));
    const int64_t last = runs_.run(length_ - 1);
    for (int64_t run = first_run_; run <= last; ++run) {
      const float* row = blocks_.position_query.row(runs_.slot(run)) + column_;
      Copy(row, d_, position_queries_ + (run - first_run_) * d_);
    }
  }

  // Divides biases by the scale, because the scale multiplies the whole score later.
  void GatherBiases(int64_t head) {
    const int64_t first_run = runs_.run(-(length_ - 1));
    last_run_ = runs_.run(length_ - 1);
    for (int64_t run = first_run; run <= last_run_; ++run) {
      bias_band_[last_run_ - run] = blocks_.position_bias.row(runs_.slot(run))[head] / blocks_.scale;
    }
  }

  void AddBiases(int64_t first, int64_t rows) {
    for (int64_t r = 0; r < rows; ++r) AddBandRow(bias_band_, last_run_, first + r, scores_ + r * layout_.row);
  }

  // scores[i, j] += query_i . position_key[slot(i - j)]. Multiplies a tile of queries by the position keys of all distances in the tile.
  void AddContentToPosition(int64_t first, int64_t rows) {
    for (int64_t r = 0; r < rows; r += TileRows()) {
      const int64_t i = first + r;
      const int64_t tile = std::min(TileRows(), rows - r);
      const int64_t first_col = last_run_ - runs_.run(i + tile - 1);
      const int64_t end_col = last_run_ - runs_.run(i - (length_ - 1)) + 1;
      const int64_t panel = first_col / TileCols() * TileCols();
      const int64_t width = RoundUp(end_col - panel, 4);
      Gemm(Query(i), blocks_.query.stride, tile, d_, position_keys_ + PanelOffset(d_, panel), end_col - panel,
           key_band_, width);
      for (int64_t t = 0; t < tile; ++t) {
        AddBandRow(key_band_ + t * width, last_run_ - panel, i + t, scores_ + (r + t) * layout_.row);
      }
    }
  }

  // scores[j] += band[zero_run - run of distance i - j]. Over distances with one run each, this adds a shifted copy of the band.
  void AddBandRow(const float* band, int64_t zero_run, int64_t i, float* scores) {
    const int64_t straight_begin = std::clamp<int64_t>(i - runs_.straight_last(), 0, length_);
    const int64_t straight_end = std::clamp<int64_t>(i - runs_.straight_first() + 1, straight_begin, length_);
    int64_t j = 0;
    for (; j < straight_begin; ++j) scores[j] += band[zero_run - runs_.run(i - j)];
    if (j < straight_end) {
      const float* source = band + (zero_run - runs_.run(i - j));
      Map2(scores + j, source, scores + j, straight_end - j, [](Floats a, Floats b) { return hn::Add(a, b); });
      j = straight_end;
    }
    for (; j < length_; ++j) scores[j] += band[zero_run - runs_.run(i - j)];
  }

  // scores[i, j] += key_j . position_query[slot(i - j)]. The product is transposed: runs times the packed keys that the distances of each
  // run reach from this tile.
  void AddPositionToContent(int64_t first, int64_t rows) {
    const int64_t least = first - (length_ - 1);  // the smallest distance in the tile
    const int64_t most = first + rows - 1;
    const int64_t last_run = runs_.run(most);
    float* band = query_band_;
    for (int64_t run = runs_.run(least); run <= last_run; run += TileRows()) {
      const int64_t tile = std::min(TileRows(), last_run - run + 1);
      const int64_t nearest = std::max<int64_t>(least, runs_.first(run));
      const int64_t farthest = std::min<int64_t>(most, runs_.first(run + tile) - 1);
      const int64_t first_key = std::max<int64_t>(0, first - farthest) / TileCols() * TileCols();
      const int64_t end_key = std::min(length_, first + rows - nearest);
      const int64_t width = RoundUp(end_key - first_key, 4);
      Gemm(position_queries_ + (run - first_run_) * d_, d_, tile, d_, keys_ + PanelOffset(d_, first_key),
           end_key - first_key, band, width);
      for (int64_t distance = nearest; distance <= farthest; ++distance) {
        const int64_t row = band - query_band_ + (runs_.run(distance) - run) * width;
        diagonals_[most - distance] = static_cast<int32_t>(row - first_key);
      }
      band += tile * width;
    }
    int64_t j = 0;
    for (; j + 4 <= length_; j += 4) AddFourKeys(rows, j, diagonals_ + (rows - 1 + j));
    for (; j < length_; ++j) {
      for (int64_t r = 0; r < rows; ++r) scores_[r * layout_.row + j] += Band(diagonals_[rows - 1 - r + j], j)[0];
    }
  }

  // Returns the scores of a position query with the keys from `key` on. `diagonal` determines the row in query_band_.
  const float* Band(int32_t diagonal, int64_t key) const { return query_band_ + (diagonal + key); }

  // Adds the position terms of the keys j to j + 3 for rows of queries. diagonals[-r] is the distance of query r to key j. Each further key
  // has the next smaller distance, so lane l of row r comes from diagonals[l - r]; a load of one distance serves four rows.
  void AddFourKeys(int64_t rows, int64_t j, const int32_t* diagonals) {
    constexpr hn::FixedTag<float, 4> kFour;
    const float* band = query_band_ + j;
    const auto load = [&](const int32_t* d) { return hn::LoadU(kFour, band + *d); };
    auto previous = load(diagonals + 1);
    // Lanes 0 and 1, or 2 and 3, of the scores at two distances.
    auto pair = hn::OddEven(load(diagonals + 2), previous);
    auto older = hn::OddEven(load(diagonals + 3), load(diagonals + 2));
    float* scores = scores_ + j;
    const float* const end = scores + rows * layout_.row;
    for (; scores != end; scores += layout_.row, --diagonals) {
      const auto next = load(diagonals);
      const auto newest = hn::OddEven(previous, next);
      hn::StoreU(hn::Add(hn::LoadU(kFour, scores), hn::ConcatUpperLower(kFour, older, newest)), kFour, scores);
      older = pair;
      pair = newest;
      previous = next;
    }
  }

  void SoftmaxAndContext(int64_t first, int64_t rows, int64_t longest, int64_t head) {
    float inverse[kMostQueries];
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t begin = FirstKey(first + r) - first_key_, end = EndKey(first + r) - first_key_;
      float* scores = scores_ + r * layout_.row;
      const int64_t sinks = blocks_.sinks.data != nullptr ? 1 : 0;  // the sink takes the place after the last key
      if (sinks > 0) scores[end] = blocks_.sinks.data[head] / blocks_.scale;
      inverse[r] = 1.0f / ExpInPlace(scores + begin, end - begin + sinks, blocks_.scale);
      std::fill_n(scores, begin, 0.0f);
      std::fill_n(scores + end, key_count_ - end, 0.0f);
    }
    float* out = blocks_.out.row(start_ + first) + column_;
    Gemm(scores_, layout_.row, rows, key_count_, values_, d_, out, blocks_.out.stride);
    for (int64_t r = 0; r < rows; ++r) {
      const Floats factor = Set(inverse[r]);
      const auto scale = [factor](Floats v) { return hn::Mul(v, factor); };
      float* row = out + r * blocks_.out.stride;
      Map(row, row, d_, scale);
      if (blocks_.probabilities.data == nullptr) continue;
      float* probabilities = blocks_.probabilities.row(start_ * blocks_.heads + head * length_ + first + r);
      std::fill_n(probabilities, first_key_, 0.0f);
      Map(scores_ + r * layout_.row, probabilities + first_key_, key_count_, scale);
      const int64_t end = first_key_ + key_count_;
      std::fill_n(probabilities + end, longest - end, 0.0f);
    }
  }

  const AttentionBlocks& blocks_;
  const PositionRuns& runs_;
  const ScratchLayout& layout_;
  const int64_t d_;
  int64_t start_ = 0;
  int64_t length_ = 0;
  int32_t end_key_ = 0;     // number of keys in the text
  int64_t column_ = 0;      // first column of the head in queries and results
  int64_t key_column_ = 0;  // and in keys and values
  int64_t first_key_ = 0;   // number of the text's first packed key
  int64_t key_count_ = 0;
  int64_t first_run_ = 0;
  int64_t last_run_ = 0;
  float* keys_;
  float* values_;
  float* scores_;
  float* position_keys_;
  float* key_band_;
  float* position_queries_;
  float* query_band_;
  int32_t* diagonals_;  // for each distance: position in query_band_ of the score with key j, minus j
  float* bias_band_;
};

bool HasPositions(const AttentionBlocks& blocks) {
  return blocks.position_key.data != nullptr || blocks.position_query.data != nullptr ||
         blocks.position_bias.data != nullptr;
}

int64_t RunTableBytes(const AttentionBlocks& blocks, const RaggedBatch& batch) {
  if (!HasPositions(blocks) || batch.rows() == 0) return 0;
  return RoundUp(PositionRuns::ScratchInts(batch.longest()) * static_cast<int64_t>(sizeof(int32_t)), kAlignment);
}

int64_t AttentionScratch(const AttentionBlocks& blocks, const RaggedBatch& batch, int32_t threads) {
  const ScratchLayout layout(blocks, batch.longest());
  return RunTableBytes(blocks, batch) + threads * layout.total * static_cast<int64_t>(sizeof(float));
}

void RunAttention(const ThreadPool& pool, const AttentionBlocks& blocks, std::span<const int32_t> slots,
                  const RaggedBatch& batch, std::byte* scratch) {
  if (batch.rows() == 0) return;
  PositionRuns runs;
  if (HasPositions(blocks)) runs = PositionRuns(slots, batch.longest(), reinterpret_cast<int32_t*>(scratch));
  float* thread_scratch = reinterpret_cast<float*>(scratch + RunTableBytes(blocks, batch));
  const ScratchLayout layout(blocks, batch.longest());

  // Creates several tasks per thread, so that threads finish at about the same time. If there are few heads, a task is a part of a head's
  // queries.
  const int64_t heads = int64_t{batch.sequences()} * blocks.heads;
  const int64_t wanted = pool.threads() == 1 ? 1 : (4 * pool.threads() + heads - 1) / heads;
  const int64_t parts = std::min<int64_t>(wanted, (batch.longest() + kMostQueries - 1) / kMostQueries);
  pool.For(heads * parts, [&](int32_t thread, int64_t task) {
    const int32_t sequence = static_cast<int32_t>(task / parts / blocks.heads);
    const int64_t length = batch.length(sequence);
    const int64_t tile = blocks.Tile(length);
    const int64_t part_rows = RoundUp((length + parts - 1) / parts, tile);
    const int64_t first = task % parts * part_rows;
    if (first >= length) return;
    HeadTask head_task(blocks, runs, layout, thread_scratch + thread * layout.total);
    head_task.Run(batch.start(sequence), length, batch.keys(sequence), batch.longest(), task / parts % blocks.heads,
                  first, std::min(first + part_rows, length));
  });
}

}  // namespace

template <>
Status Run(Runner& r, const ops::Attention& op) {
  const AttentionBlocks blocks{&op,
                               r.View(op.query),
                               r.View(op.key),
                               r.View(op.value),
                               r.View(op.position_key),
                               r.View(op.position_query),
                               r.View(op.position_bias),
                               r.View(op.sinks),
                               r.View(op.probabilities),
                               r.View(op.out),
                               op.heads,
                               op.scale};
  const Scratch scratch(r, AttentionScratch(blocks, r.batch(), r.pool().threads()));
  if (!scratch) return NoWorkspace();
  RunAttention(r.pool(), blocks, op.slots.valid() ? r.at(op.slots) : std::span<const int32_t>(), r.batch(),
               scratch.bytes());
  return OkStatus();
}

}  // namespace peruse::cpu

// Linear layers with float products, whose weights are stored as floats or halves: loops over panels and rows that call Gemm.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "core/cpu/activations.h"
#include "core/cpu/gemm.h"
#include "core/cpu/packed_linear.h"

namespace peruse::cpu {
namespace {

// A block of panels stays in the L2 cache while rows are multiplied by it; a block of rows stays in the L3 cache.
constexpr int64_t kPanelBlockBytes = 256 << 10;
constexpr int64_t kRowBlock = 240;  // a multiple of 4, 5 and 6, the row counts of the kernels' tiles

int64_t BlockCols(int64_t depth) {
  const int64_t panel_bytes = PackedFloats(depth, TileCols()) * static_cast<int64_t>(sizeof(float));
  return std::max<int64_t>(1, kPanelBlockBytes / panel_bytes) * TileCols();
}

// Returns the rows per block: fewer if the threads would otherwise have too few tasks.
int64_t BlockRows(int64_t rows, int64_t col_blocks, int32_t threads) {
  int64_t size = std::min(rows, kRowBlock);
  if (threads > 1) {
    const int64_t row_blocks = (3 * threads + col_blocks - 1) / col_blocks;
    size = std::min(size, (rows + row_blocks - 1) / row_blocks);
  }
  return RoundUp(std::max<int64_t>(size, 1), TileRows());
}

class FloatLinear : public PackedLinear {
 public:
  void WriteRows(int32_t first_row, const EncodedRows& rows) override;
  void Run(const ThreadPool& pool, const Block& x, int64_t group_step, int64_t first_output, Activation activation,
           float* scratch, const Block& out) const override;

 protected:
  explicit FloatLinear(const LinearSpec& spec);

  // Packs the columns [first, first + count) of a group of weights. `rows` has, for each column, a row of depth() elements in the weight
  // format.
  virtual void Pack(const uint8_t* rows, int64_t group, int64_t first, int64_t count) = 0;
  // Returns the columns [first, first + count), packed for Gemm. `first` is a multiple of TileCols(), `scratch` has PanelScratch() floats.
  virtual const float* Panels(int64_t group, int64_t first, int64_t count, float* scratch) const = 0;
  int64_t PanelScratch() const;
};

FloatLinear::FloatLinear(const LinearSpec& spec) : PackedLinear(spec, TileCols()) {}

int64_t FloatLinear::PanelScratch() const { return PackedFloats(depth(), std::min(BlockCols(depth()), group_width())); }

void FloatLinear::WriteRows(int32_t first_row, const EncodedRows& rows) {
  const int64_t row_bytes = FormatOf(spec().precision).RowBytes(depth());
  int64_t row = first_row;
  int64_t left = std::ssize(rows.payload) / row_bytes;
  const uint8_t* payload = rows.payload.data();
  while (left > 0) {
    const int64_t first = row % group_width();
    const int64_t count = std::min(left, group_width() - first);
    Pack(payload, row / group_width(), first, count);
    payload += count * row_bytes;
    row += count;
    left -= count;
  }
}

void FloatLinear::Run(const ThreadPool& pool, const Block& x, int64_t group_step, int64_t first_output,
                      Activation activation, float* scratch, const Block& out) const {
  const int64_t width = std::min(group_width(), out.cols);
  const int64_t cols = std::min(BlockCols(depth()), RoundUp(width, TileCols()));
  const int64_t group_blocks = (width + cols - 1) / cols;
  const int64_t col_blocks = group_blocks * spec().groups;
  const int64_t rows = BlockRows(x.rows, col_blocks, pool.threads());
  const int64_t row_blocks = (x.rows + rows - 1) / rows;

  const int64_t thread_scratch = PanelScratch();
  pool.For(row_blocks * col_blocks, [&](int32_t thread, int64_t task) {
    const int64_t first_row = task / col_blocks * rows;
    const int64_t end_row = std::min(first_row + rows, x.rows);
    const int64_t group = task % col_blocks / group_blocks;
    const int64_t first_col = task % col_blocks % group_blocks * cols;
    const int64_t n = std::min(cols, width - first_col);
    const float* panels = Panels(group, first_output + first_col, n, scratch + thread * thread_scratch);
    for (int64_t r = first_row; r < end_row; r += TileRows()) {
      const int64_t tile = std::min(TileRows(), end_row - r);
      float* result = out.row(r) + group * width + first_col;
      Gemm(x.row(r) + group * group_step, x.stride, tile, depth(), panels, n, result, out.stride);
      if (activation == Activation::kNone) continue;
      for (int64_t i = 0; i < tile; ++i) {  // applied now, while the tile is in the L1 cache
        ActivateRow(result + i * out.stride, n, activation, result + i * out.stride);
      }
    }
  });
}

class F32Linear final : public FloatLinear {
 public:
  explicit F32Linear(const LinearSpec& spec) : FloatLinear(spec) {}
  bool Allocate() { return PackedLinear::Allocate(spec().groups * GroupFloats() * 4, 0); }

  void WriteBias(int32_t first, std::span<const float> values) override {
    ForRows(first, static_cast<int64_t>(values.size()), [&](int64_t g, int64_t col, int64_t i) {
      const int64_t place = col % TileCols();
      group(g)[PanelOffset(depth(), col - place) + place] = values[static_cast<size_t>(i)];
    });
  }
  int64_t Scratch(int64_t, int32_t) const override { return 0; }

 private:
  int64_t GroupFloats() const { return PackedFloats(depth(), group_width()); }
  float* group(int64_t g) const { return reinterpret_cast<float*>(weights()) + g * GroupFloats(); }

  void Pack(const uint8_t* rows, int64_t g, int64_t first, int64_t count) override {
    PackColumns(reinterpret_cast<const float*>(rows), depth(), depth(), first, count, group(g));
  }
  const float* Panels(int64_t g, int64_t first, int64_t, float*) const override {
    return group(g) + PanelOffset(depth(), first);
  }
};

// Stores weights as binary16, and expands a block of panels to floats before each multiplication.
class F16Linear final : public FloatLinear {
 public:
  explicit F16Linear(const LinearSpec& spec) : FloatLinear(spec) {}
  bool Allocate() {
    return PackedLinear::Allocate(spec().groups * GroupHalves() * static_cast<int64_t>(sizeof(uint16_t)), 1);
  }

  void WriteBias(int32_t first, std::span<const float> values) override { WriteColumns(kBiases, first, values); }
  int64_t Scratch(int64_t, int32_t threads) const override { return threads * PanelScratch(); }

 private:
  static constexpr int64_t kBiases = 0;

  int64_t GroupHalves() const { return padded_width() * depth(); }
  uint16_t* group(int64_t g) const { return reinterpret_cast<uint16_t*>(weights()) + g * GroupHalves(); }

  void Pack(const uint8_t* rows, int64_t g, int64_t first, int64_t count) override {
    PackHalfColumns(reinterpret_cast<const uint16_t*>(rows), depth(), depth(), first, count, group(g));
  }
  const float* Panels(int64_t g, int64_t first, int64_t count, float* scratch) const override {
    ExpandHalfPanels(group(g) + first * depth(), columns(kBiases, g) + first, depth(), count, scratch);
    return scratch;
  }
};

}  // namespace

std::unique_ptr<PackedLinear> CreateF32Linear(const LinearSpec& spec) {
  std::unique_ptr<F32Linear> linear(new (std::nothrow) F32Linear(spec));
  return linear && linear->Allocate() ? std::move(linear) : nullptr;
}

std::unique_ptr<PackedLinear> CreateF16Linear(const LinearSpec& spec) {
  std::unique_ptr<F16Linear> linear(new (std::nothrow) F16Linear(spec));
  return linear && linear->Allocate() ? std::move(linear) : nullptr;
}

}  // namespace peruse::cpu

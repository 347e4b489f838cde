// Checks that the kernels that Peruse chooses on this machine are its fastest: float32 tiles, and exact int8 products. Measures each choice
// in turns with its alternatives, so that a busy machine slows all. Exit code 1 if an alternative is more than 5 % faster.
//
//   dispatch_bench [seconds for each shape]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "core/cpu/gemm.h"
#include "core/cpu/int8_gemm.h"
#include "tests/bench/clocks.h"

namespace peruse {
namespace {

using namespace cpu;  // NOLINT: this program is about its kernels

constexpr double kTolerance = 1.05;

struct Shape {
  int64_t rows, depth, width;
};

struct Way {
  std::string name;
  bool chosen;
  std::function<void()> call;
  std::vector<double> times = {};
};

// Prints each alternative's time relative to the choice. Returns false if one is faster by more than the tolerance.
bool Compare(const std::string& what, std::vector<Way> ways, double seconds) {
  for (Way& way : ways) {
    for (int i = 0; i < 50; ++i) way.call();  // until the optimising compiler has replaced the code
  }
  for (const double end = bench::WallTime() + seconds; bench::WallTime() < end;) {
    for (Way& way : ways) {
      const int calls = way.times.empty() ? 1 : std::clamp(static_cast<int>(2e-3 / way.times[0]), 1, 1000);
      const double start = bench::CpuTime();
      for (int i = 0; i < calls; ++i) way.call();
      way.times.push_back(std::max(bench::CpuTime() - start, 1e-7) / calls);
    }
  }
  const Way& chosen = *std::find_if(ways.begin(), ways.end(), [](const Way& way) { return way.chosen; });
  bool sound = true;
  std::printf("%-28s %-16s %8.1f us", what.c_str(), chosen.name.c_str(), bench::Median(chosen.times) * 1e6);
  for (const Way& way : ways) {
    if (way.chosen) continue;
    std::vector<double> ratios;
    for (size_t i = 1; i < way.times.size(); ++i) ratios.push_back(way.times[i] / chosen.times[i]);
    const double ratio = bench::Median(ratios);
    const bool slower = ratio * kTolerance < 1;
    std::printf("   %s %.2f%s", way.name.c_str(), ratio, slower ? " IS FASTER" : "");
    sound = sound && !slower;
  }
  std::printf("\n");
  return sound;
}

std::string Named(const char* kind, const Shape& shape) {
  return std::string(kind) + " " + std::to_string(shape.rows) + "x" + std::to_string(shape.depth) + "x" +
         std::to_string(shape.width);
}

std::vector<float> Floats(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 31) / 31.0f - 0.5f;
  return values;
}

bool CompareFloat(const Shape& shape, double seconds) {
  const std::vector<float> x = Floats(shape.rows * shape.depth + 4);
  const std::vector<float> weights = Floats(shape.width * shape.depth);
  std::vector<float> packed(static_cast<size_t>(PackedFloats(shape.depth, shape.width)));
  ZeroBias(shape.depth, shape.width, packed.data());
  PackColumns(weights.data(), shape.depth, shape.depth, 0, shape.width, packed.data());
  std::vector<float> out(static_cast<size_t>(shape.rows * shape.width));
  std::vector<Way> ways;
  for (int kernel = 0; kernel < GemmKernels(); ++kernel) {
    ways.push_back({GemmKernelName(kernel), kernel == ChosenGemmKernel(), [&, kernel] {
                      GemmBy(kernel, x.data(), shape.depth, shape.rows, shape.depth, packed.data(), shape.width,
                             out.data(), shape.width);
                    }});
  }
  return Compare(Named("f32", shape), std::move(ways), seconds);
}

struct Int8Way {
  Int8Path path;
  bool wide;
  Shape shape;
  std::vector<int8_t> packed;
  std::vector<int32_t> sums, offsets;
  std::vector<std::byte> tiles, panel;
  std::vector<float> row_scales, scales, biases, x, out;

  Int8Way(Int8Path by, bool is_wide, const Shape& of) : path(by), wide(is_wide), shape(of) {
    std::vector<int8_t> weights(static_cast<size_t>(shape.width * shape.depth));
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<int8_t>(i * 7 % 255 - 127);
    packed.resize(static_cast<size_t>(shape.width * Int8Depth(path, shape.depth)));
    PackInt8Columns(path, weights.data(), shape.depth, 0, shape.width, packed.data());
    for (auto row = weights.begin(); row != weights.end(); row += shape.depth) {
      sums.push_back(std::accumulate(row, row + shape.depth, int32_t{0}));
    }
    tiles.resize(static_cast<size_t>(shape.rows / kInt8TileRows * QuantizedTileBytes(path, shape.depth, wide)));
    panel.resize(static_cast<size_t>(Int8PanelScratch(path, shape.depth)) + 64);
    row_scales.resize(static_cast<size_t>(shape.rows + 4));
    offsets.resize(static_cast<size_t>(shape.rows + 4));
    scales.assign(static_cast<size_t>(shape.width + 16), 0.01f);
    biases.assign(static_cast<size_t>(shape.width + 16), 0.0f);
    x = Floats(shape.rows * shape.depth + 4);
    out.resize(static_cast<size_t>(shape.rows * shape.width));
  }

  // Like a linear layer: quantises rows, then multiplies panel by panel.
  void Run() {
    const int64_t tile_bytes = QuantizedTileBytes(path, shape.depth, wide);
    for (int64_t r = 0; r < shape.rows; r += kInt8TileRows) {
      QuantizeTile(path, x.data() + r * shape.depth, shape.depth, kInt8TileRows, shape.depth, wide,
                   tiles.data() + r / kInt8TileRows * tile_bytes, row_scales.data() + r, offsets.data() + r);
    }
    for (int64_t col = 0; col < shape.width; col += Int8TileCols()) {
      Int8Panel part = {packed.data() + Int8PanelOffset(path, shape.depth, col), sums.data() + col,
                        path == Int8Path::kI16 ? panel.data() : nullptr};
      for (int64_t r = 0; r < shape.rows; r += kInt8TileRows) {
        MultiplyInt8Tile(path, tiles.data() + r / kInt8TileRows * tile_bytes, offsets.data() + r, shape.depth, wide,
                         part,
                         {row_scales.data() + r, scales.data() + col, biases.data() + col,
                          out.data() + r * shape.width + col, shape.width, kInt8TileRows, Int8TileCols()});
        part = part.Next();
      }
    }
  }
};

bool CompareInt8(const Shape& shape, bool wide, double seconds) {
  static constexpr std::pair<Int8Path, const char*> kPaths[] = {
      {Int8Path::kSdot, "signed bytes"}, {Int8Path::kUsdot, "unsigned bytes"}, {Int8Path::kI16, "16-bit pairs"}};
  std::vector<Int8Way> rooms;
  rooms.reserve(std::size(kPaths));
  std::vector<Way> ways;
  for (const auto& [path, name] : kPaths) {
    if (!Int8PathIsExact(path)) continue;
    Int8Way& room = rooms.emplace_back(path, wide, shape);
    ways.push_back({name, path == ChosenInt8Path(), [&room] { room.Run(); }});
  }
  return Compare(Named(wide ? "q8, 13 bits" : "q8", shape), std::move(ways), seconds);
}

int Main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 2;
  bool sound = true;
  std::printf("shape, chosen kernel, its time; the others' times over it\n");
  for (const int64_t rows : {1, 16, 128}) {
    for (const auto& [depth, width] : {std::pair{256, 1024}, std::pair{768, 768}, std::pair{768, 3072}}) {
      sound = CompareFloat({rows, depth, width}, seconds) && sound;
    }
  }
  for (const int64_t rows : {16, 128}) {
    sound = CompareInt8({rows, 256, 1024}, false, seconds) && sound;
    sound = CompareInt8({rows, 768, 3072}, false, seconds) && sound;
    sound = CompareInt8({rows, 3072, 768}, true, seconds) && sound;
  }
  return sound ? 0 : 1;
}

}  // namespace
}  // namespace peruse

int main(int argc, char** argv) { return peruse::Main(argc, argv); }

#include "core/cpu/int4_panel.h"

#include <algorithm>
#include <cstring>

#include "core/cpu/block.h"
#include "core/cpu/simd.h"
#include "core/formats/int4.h"

namespace peruse::cpu {
namespace {

using namespace simd;

// Chunk i of a panel, 16 bytes, has the bytes [32 * i, 32 * i + 16) of the unpacked panel in the low halves, and the following 16 in the high
// halves. Halves are signed.
constexpr int64_t kChunk = 32;

constexpr hn::FixedTag<uint8_t, 16> kBytes;
constexpr hn::FixedTag<int8_t, 16> kSigned;
constexpr hn::FixedTag<int16_t, 8> kShorts;
using Shorts = hn::Vec<decltype(kShorts)>;

int64_t Step(Int8Path path) { return path == Int8Path::kI16 ? 2 : 4; }
int64_t UnpackedBytes(Int8Path path, int64_t k) { return RoundUp(Int8Depth(path, k) * Int8TileCols(), kChunk); }

// Writes each step's halves as bytes, in one of the halves of `panel`.
template <int64_t kStep>
void SpreadHalves(const uint8_t* row, int64_t steps, int64_t tile_cols, int64_t lane, uint8_t* panel) {
  for (int64_t s = 0; s < steps; ++s, row += kStep / 2) {
    uint32_t bytes = kStep == 2 ? row[0] : row[0] | uint32_t{row[1]} << 8;
    bytes = (bytes | bytes << 8) & 0x00FF00FF;
    bytes = ((bytes | bytes << 4) & 0x0F0F0F0F) ^ 0x08080808;
    const int64_t at = (s * tile_cols + lane) * kStep;
    const int shift = at % kChunk < kChunk / 2 ? 0 : 4;
    uint8_t* const out = panel + at / kChunk * (kChunk / 2) + at % (kChunk / 2);
    uint32_t both = 0;
    std::memcpy(&both, out, kStep);
    both = (both & ~(uint32_t{0x0F0F0F0F} << shift)) | bytes << shift;
    std::memcpy(out, &both, kStep);
  }
}

struct Quarters {
  Shorts values[4];  // 8 integers each, in the order of the unpacked panel
};

Quarters UnpackChunk(const uint8_t* chunk, const int16_t* multipliers) {
  const auto both = hn::LoadU(kBytes, chunk);
  const auto low = hn::BitCast(kSigned, hn::ShiftLeft<4>(both));
  const auto high = hn::BitCast(kSigned, hn::And(both, hn::Set(kBytes, 0xF0)));
  const auto scaled = [&](Shorts sixteenfold, int64_t quarter) {
    return hn::MulFixedPoint15(sixteenfold, hn::LoadU(kShorts, multipliers + 8 * quarter));  // Int4Integer
  };
  return {{scaled(hn::PromoteLowerTo(kShorts, low), 0), scaled(hn::PromoteUpperTo(kShorts, low), 1),
           scaled(hn::PromoteLowerTo(kShorts, high), 2), scaled(hn::PromoteUpperTo(kShorts, high), 3)}};
}

// Repeats each multiplier `step` times, 2 or 4, and the whole until a chunk is full.
void SpreadMultipliers(const uint8_t* multipliers, int64_t cols, int64_t step, int16_t* of_bytes) {
  for (int64_t first = 0; first < std::max(cols * step, kChunk); first += 8 * step) {
    const auto from = hn::LoadU(kShorts, reinterpret_cast<const int16_t*>(multipliers) + first / step % cols);
    const Shorts halves[] = {hn::InterleaveLower(kShorts, from, from), hn::InterleaveUpper(kShorts, from, from)};
    for (int64_t i = 0; i < 2; ++i) {
      int16_t* const out = of_bytes + first + i * 4 * step;
      if (step == 2) {
        hn::StoreU(halves[i], kShorts, out);
        continue;
      }
      hn::StoreU(hn::InterleaveLower(kShorts, halves[i], halves[i]), kShorts, out);
      hn::StoreU(hn::InterleaveUpper(kShorts, halves[i], halves[i]), kShorts, out + 8);
    }
  }
}

// Calls store(values, first): the integers from `first` on, for each chunk.
template <typename Store>
void UnpackChunks(Int8Path path, const uint8_t* panel, int64_t k, Store store) {
  const int64_t bytes = UnpackedBytes(path, k);
  const int64_t cols = Int8TileCols(), step = Step(path);
  const int64_t period = std::max(cols * step, kChunk);
  const uint8_t* multipliers = panel + bytes / 2;
  int16_t of_bytes[std::max(8 * kLanes, kChunk)];  // the multiplier of each byte of a step
  for (int64_t first = 0; first < bytes; multipliers += cols * 2) {
    SpreadMultipliers(multipliers, cols, step, of_bytes);
    const int64_t end = std::min(bytes, first + kInt4Group * cols);
    for (; first < end; first += kChunk, panel += kChunk / 2) {
      store(UnpackChunk(panel, of_bytes + first % period), first);
    }
  }
}

}  // namespace

int64_t Int4PanelBytes(Int8Path path, int64_t k) {
  return UnpackedBytes(path, k) / 2 + Int4Groups(k) * Int8TileCols() * int64_t{sizeof(int16_t)};
}

void PackInt4Column(Int8Path path, const uint8_t* row, int64_t k, int64_t lane, uint8_t* panel) {
  const int64_t steps = Int8Depth(path, k) / Step(path);
  if (path == Int8Path::kI16) return SpreadHalves<2>(row, steps, Int8TileCols(), lane, panel);
  SpreadHalves<4>(row, steps, Int8TileCols(), lane, panel);
}

int16_t* Int4PanelMultipliers(Int8Path path, int64_t k, int64_t lane, uint8_t* panel) {
  return reinterpret_cast<int16_t*>(panel + UnpackedBytes(path, k) / 2) + lane;
}

int64_t Int4PanelScratch(Int8Path path, int64_t k) {
  return UnpackedBytes(path, k) * (path == Int8Path::kI16 ? int64_t{sizeof(int16_t)} : 1);
}

void UnpackInt4Panel(Int8Path path, const uint8_t* panel, int64_t k, void* scratch) {
  if (path == Int8Path::kI16) {
    auto* const out = static_cast<int16_t*>(scratch);
    return UnpackChunks(path, panel, k, [out](const Quarters& quarters, int64_t first) {
      for (int64_t i = 0; i < 4; ++i) hn::StoreU(quarters.values[i], kShorts, out + first + 8 * i);
    });
  }
  auto* const out = static_cast<int8_t*>(scratch);
  UnpackChunks(path, panel, k, [out](const Quarters& quarters, int64_t first) {
    for (int64_t i = 0; i < 4; i += 2) {
      const auto bytes = hn::OrderedDemote2To(kSigned, quarters.values[i], quarters.values[i + 1]);
      hn::StoreU(bytes, kSigned, out + first + 8 * i);
    }
  });
}

}  // namespace peruse::cpu

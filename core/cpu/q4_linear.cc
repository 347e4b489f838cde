// Linear layers with 4-bit weights in groups of 32 (core/formats/int4.h).
#include "core/cpu/int4_panel.h"
#include "core/cpu/int8_linear.h"
#include "core/formats/int4.h"

namespace peruse::cpu {
namespace {

class Q4Linear final : public Int8Linear {
 public:
  explicit Q4Linear(const LinearSpec& spec)
      : Int8Linear(spec), panel_bytes_(RoundUp(Int4PanelBytes(ChosenInt8Path(), depth()), 16)) {}
  bool Allocate() {
    const int64_t panels = padded_width() / Int8TileCols() * spec().groups;
    return PackedLinear::Allocate(panels * panel_bytes_, kColumnKinds);
  }

  void WriteRows(int32_t first_row, const EncodedRows& rows) override;

 private:
  Int8Panel Prepare(int64_t g, int64_t output, std::byte* scratch) const override;
  int64_t PanelScratch() const override { return UnpackedBytes() + Int8TileCols() * int64_t{sizeof(int32_t)}; }

  int64_t UnpackedBytes() const { return RoundUp(Int4PanelScratch(ChosenInt8Path(), depth()), 16); }
  uint8_t* panel(int64_t g, int64_t output) const {
    return reinterpret_cast<uint8_t*>(weights()) + (g * padded_width() + output) / Int8TileCols() * panel_bytes_;
  }

  const int64_t panel_bytes_;
};

void Q4Linear::WriteRows(int32_t first_row, const EncodedRows& rows) {
  const Int8Path path = ChosenInt8Path();
  const int64_t row_groups = Int4Groups(depth()), row_bytes = row_groups * kInt4GroupBytes;
  ForRows(first_row, std::ssize(rows.payload) / row_bytes, [&](int64_t g, int64_t col, int64_t i) {
    PackInt4Column(path, rows.payload.data() + i * row_bytes, depth(), col % Int8TileCols(), panel(g, col));
  });
  ForRows(first_row, std::ssize(rows.scales) / row_groups, [&](int64_t g, int64_t col, int64_t i) {
    const float* const scales = rows.scales.data() + i * row_groups;
    columns(kScales, g)[col] = Int4Multipliers(
        row_groups, [scales](int64_t group) { return scales[group]; },
        Int4PanelMultipliers(path, depth(), col % Int8TileCols(), panel(g, col)), Int8TileCols());
  });
}

Int8Panel Q4Linear::Prepare(int64_t g, int64_t output, std::byte* scratch) const {
  const Int8Path path = ChosenInt8Path();
  auto* const sums = reinterpret_cast<int32_t*>(scratch + UnpackedBytes());
  UnpackInt4Panel(path, panel(g, output), depth(), scratch);
  SumInt8Columns(path, scratch, depth(), sums);
  return {scratch, sums};
}

}  // namespace

std::unique_ptr<PackedLinear> CreateQ4Linear(const LinearSpec& spec) {
  std::unique_ptr<Q4Linear> linear(new (std::nothrow) Q4Linear(spec));
  return linear && linear->Allocate() ? std::move(linear) : nullptr;
}

}  // namespace peruse::cpu

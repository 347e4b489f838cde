// Linear layers with int8 weights.
#include <numeric>

#include "core/cpu/int8_linear.h"

namespace peruse::cpu {
namespace {

class Q8Linear final : public Int8Linear {
 public:
  explicit Q8Linear(const LinearSpec& spec) : Int8Linear(spec) {}
  bool Allocate() { return PackedLinear::Allocate(spec().groups * GroupBytes(), kColumnKinds + 1); }

  void WriteRows(int32_t first_row, const EncodedRows& rows) override;

 private:
  static constexpr int64_t kWeightSums = kColumnKinds;

  Int8Panel Prepare(int64_t g, int64_t output, std::byte* scratch) const override {
    const int8_t* packed = group(g) + Int8PanelOffset(ChosenInt8Path(), depth(), output);
    return {packed, WeightSums(g) + output, PanelScratch() > 0 ? scratch : nullptr};
  }
  int64_t PanelScratch() const override { return Int8PanelScratch(ChosenInt8Path(), depth()); }

  int64_t GroupBytes() const { return padded_width() * Int8Depth(ChosenInt8Path(), depth()); }
  int8_t* group(int64_t g) const { return reinterpret_cast<int8_t*>(weights()) + g * GroupBytes(); }
  int32_t* WeightSums(int64_t g) const { return reinterpret_cast<int32_t*>(columns(kWeightSums, g)); }
};

void Q8Linear::WriteRows(int32_t first_row, const EncodedRows& rows) {
  WriteColumns(kScales, first_row, rows.scales);
  ForRows(first_row, std::ssize(rows.payload) / depth(), [&](int64_t g, int64_t col, int64_t i) {
    const auto* row = reinterpret_cast<const int8_t*>(rows.payload.data()) + i * depth();
    PackInt8Columns(ChosenInt8Path(), row, depth(), col, 1, group(g));
    WeightSums(g)[col] = std::accumulate(row, row + depth(), int32_t{0});
  });
}

}  // namespace

std::unique_ptr<PackedLinear> CreateQ8Linear(const LinearSpec& spec) {
  std::unique_ptr<Q8Linear> linear(new (std::nothrow) Q8Linear(spec));
  return linear && linear->Allocate() ? std::move(linear) : nullptr;
}

}  // namespace peruse::cpu

#include "core/cpu/float_linear.h"
#include "core/cpu/gemm.h"

namespace peruse::cpu {
namespace {

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

std::unique_ptr<PackedLinear> CreateF16Linear(const LinearSpec& spec) {
  std::unique_ptr<F16Linear> linear(new (std::nothrow) F16Linear(spec));
  return linear && linear->Allocate() ? std::move(linear) : nullptr;
}

}  // namespace peruse::cpu

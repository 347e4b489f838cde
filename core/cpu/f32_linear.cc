#include "core/cpu/float_linear.h"
#include "core/cpu/gemm.h"

namespace peruse::cpu {
namespace {

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

}  // namespace

std::unique_ptr<PackedLinear> CreateF32Linear(const LinearSpec& spec) {
  std::unique_ptr<F32Linear> linear(new (std::nothrow) F32Linear(spec));
  return linear && linear->Allocate() ? std::move(linear) : nullptr;
}

}  // namespace peruse::cpu

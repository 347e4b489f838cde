#include "core/backend/webgpu/linear.h"

#include "core/backend/webgpu/layer_norm.h"

namespace peruse::webgpu {
namespace {

constexpr uint32_t kRowBlock = 192;  // from so many rows on the large tiles of linear.wgsl fill a GPU
constexpr uint32_t kSmallTile = 32;
constexpr uint32_t kLargeTile = 64;

std::string_view LinearShader(Recording& r, const Weighted& by) {
  return GpuFormatOf(by.precision).ProductShader(r.recorder().limits());
}

Constants LinearConstants(uint32_t tile, const Weighted& by) {
  const auto size = static_cast<float>(tile);
  Constants constants = {{"TILE_M", size}, {"TILE_N", size}};
  for (const Constant& constant : GpuFormatOf(by.precision).ProductConstants(by.wide)) constants.push_back(constant);
  return constants;
}

}  // namespace

void ExpectLinear(Recording& r, const Weighted& by, int32_t width) {
  for (const uint32_t tile : {kSmallTile, kLargeTile}) {
    if (tile == kLargeTile && width < static_cast<int32_t>(kLargeTile)) continue;
    r.recorder().Expect(LinearShader(r, by), LinearConstants(tile, by));
  }
}

void ExpectLinear(Recording& r, const LinearSpec& spec) {
  ExpectLinear(r, {spec.precision, spec.wide_input}, spec.out / spec.groups);
}

void DispatchLinear(Recording& r, const Weighted& by, const LinearParams& params, uint32_t groups,
                    std::initializer_list<int32_t> buffers) {
  const uint32_t tile = params.rows >= kRowBlock && params.width >= kLargeTile ? kLargeTile : kSmallTile;
  r.recorder().Dispatch(LinearShader(r, by), LinearConstants(tile, by), params, buffers,
                        {CeilDivide(params.width, tile), CeilDivide(params.rows, tile), groups});
}

void Project(Recording& r, const Recording::View& x, int32_t rows, LinearId weight, Activation activation,
             const Combined& combined, const Recording::View& out) {
  const LinearWeight& linear = r.linear(weight);
  const auto groups = static_cast<uint32_t>(linear.spec.groups);
  const uint32_t depth = static_cast<uint32_t>(linear.spec.in) / groups;
  const auto row_elements = static_cast<uint32_t>(linear.row_elements / linear.format().elements_counted_as_one());
  for (const LinearPart& part : linear.parts) {
    // A part is rows of the one group there is, or whole groups.
    const uint32_t width =
        groups == 1 ? static_cast<uint32_t>(part.rows) : static_cast<uint32_t>(linear.spec.out) / groups;
    const uint32_t part_groups = static_cast<uint32_t>(part.rows) / width;
    const auto first = static_cast<uint32_t>(part.first_row);
    const uint32_t first_group = groups == 1 ? 0 : first / width;
    LinearParams params = {};
    params.rows = static_cast<uint32_t>(rows);
    params.depth = depth;
    params.width = width;
    params.x_first = x.place.first + first_group * depth;
    params.x_stride = x.place.stride;
    params.x_group = depth;
    params.w_stride = row_elements;
    params.w_group = width * row_elements;
    params.bias_first = first;
    params.bias_group = width;
    params.out_first = out.place.first + first;
    params.out_stride = out.place.stride;
    params.out_group = width;
    params.other = {combined.with.place.first + first, combined.with.place.stride};
    params.activation = static_cast<uint32_t>(activation);
    params.has_bias = 1;
    params.combine = combined.how;
    params.scales_first = static_cast<uint32_t>(linear.spec.out) + first;
    params.levels = static_cast<uint32_t>(FormatOf(linear.spec.precision).InputLevels(linear.spec));
    const int32_t other = combined.how == Combined::kNot ? x.buffer : combined.with.buffer;
    DispatchLinear(r, {linear.spec.precision, linear.spec.wide_input}, params, part_groups,
                   {x.buffer, part.buffer, linear.bias, other, out.buffer});
  }
}

void Record(Recording& r, const ops::Linear& op) {
  const Tensor x = r.at(op.x);
  const Tensor out = r.at(op.out);
  if (op.norm.valid()) {
    const Recording::View sum = r.TakeMatrix(out.rows, out.cols);
    if (r.failed()) return;
    Project(r, r.Of(x), x.rows, op.weight, Activation::kNone, {Combined::kAdded, r.Of(op.residual)}, sum);
    Normalise(r, sum, nullptr, op.norm, out);
    r.GiveBack(sum.buffer);
    return;
  }
  const Recording::View input = r.Operand(op.x, op.out);
  Combined combined;
  if (op.factor.valid()) combined = {Combined::kMultiplied, r.Operand(op.factor, op.out)};
  if (r.failed()) return;
  Project(r, input, x.rows, op.weight, op.activation, combined, r.Of(out));
}

void Expect(Recording& r, const Program& program, const ops::Linear& op) {
  ExpectLinear(r, program.linears[static_cast<size_t>(op.weight.id)]);
  if (op.norm.valid()) r.recorder().Expect("norm", {});
}

}  // namespace peruse::webgpu

#include "core/backend/webgpu/linear.h"

#include <algorithm>

#include "core/backend/webgpu/gpu_format.h"
#include "core/formats/quantize.h"

namespace peruse::webgpu {
namespace {

std::string_view LinearShader(Recording& r, const LinearPipeline& pipeline) {
  return GpuFormatOf(pipeline.precision).product_shader(r.recorder().limits(), pipeline.aligned);
}

Constants LinearConstants(Recording& r, const TileShape& tile, const LinearPipeline& pipeline) {
  Constants constants = {{"TILE_ROWS", static_cast<float>(tile.rows)},
                         {"TILE_COLUMNS", static_cast<float>(tile.columns)},
                         {"ROWS", static_cast<float>(tile.thread_rows)},
                         {"COLUMNS", static_cast<float>(tile.thread_columns)},
                         {"FEW_REGISTERS", r.recorder().limits().tuning.few_registers ? 1.0f : 0.0f}};
  for (const Constant& constant : GpuFormatOf(pipeline.precision).product_constants(pipeline.wide))
    constants.push_back(constant);
  return constants;
}

Tiling TilingOf(Recording& r, const LinearParams& params, uint32_t groups) {
  return PlanTiles({.rows = LengthBucket(static_cast<int32_t>(params.rows)),
                    .depth = static_cast<int32_t>(params.depth),
                    .width = static_cast<int32_t>(params.width),
                    .groups = static_cast<int32_t>(groups),
                    .tuning = r.recorder().limits().tuning});
}

void Dispatch(Recording& r, const LinearPipeline& pipeline, const LinearParams& params, uint32_t groups,
              const TileShape& tile, std::initializer_list<int32_t> buffers) {
  for (const uint32_t place : {params.x_first, params.x_stride, params.w_first, params.w_stride}) {
    PERUSE_CHECK(!pipeline.aligned || place % 4 == 0);
  }
  r.recorder().Dispatch(LinearShader(r, pipeline), LinearConstants(r, tile, pipeline), params, buffers,
                        {CeilDivide(params.width, tile.columns), CeilDivide(params.rows, tile.rows), groups});
}

uint32_t RowElements(const LinearWeight& linear) {
  return static_cast<uint32_t>(linear.row_elements / linear.format().elements_counted_as_one);
}

struct QuantizedRows {
  // Contains scales and offsets, [rows, groups, 2], then the quantised words (quantize_rows.wgsl). The caller must give it back.
  int32_t buffer = Recorder::kNoBuffer;
  uint32_t first_word = 0;
  uint32_t groups = 0;
  // Words of a row's slice of one group; for 13-bit integers separately for high and low parts.
  uint32_t slice_words = 0;
};

QuantizedRows QuantizeRows(Recording& r, const Recording::View& x, int32_t rows, const LinearSpec& spec) {
  const int32_t depth = spec.in / spec.groups;
  const int32_t words = static_cast<int32_t>(CeilDivide(depth, kQuantizedMultiple)) * (kQuantizedMultiple / 4);
  const int32_t slice_words = spec.wide_input ? 2 * words : words;
  // A slice's scale and offset take a word each. The quantised values after them start at a multiple of four words.
  const Recording::View out = r.TakeMatrix(rows, spec.groups * (slice_words + 4));
  if (r.failed()) return {};
  const QuantizedRows quantized = {.buffer = out.buffer,
                                   .first_word = CeilDivide(int64_t{rows} * spec.groups, 2) * 4,
                                   .groups = static_cast<uint32_t>(spec.groups),
                                   .slice_words = static_cast<uint32_t>(slice_words)};
  const QuantizeRowsParams params = {.rows = static_cast<uint32_t>(rows),
                                     .groups = quantized.groups,
                                     .depth = static_cast<uint32_t>(depth),
                                     .x = x.place,
                                     .levels = static_cast<uint32_t>(InputLevels(depth, spec.wide_input)),
                                     .first_word = quantized.first_word,
                                     .words = static_cast<uint32_t>(words),
                                     .wide = spec.wide_input};
  const uint32_t most = r.recorder().limits().workgroups_per_dimension;
  r.recorder().Dispatch("quantize_rows", {}, params, {x.buffer, out.buffer},
                        {std::min(params.rows * params.groups, most), 1, 1});
  return quantized;
}

void ExpectQuantizeRows(Recording& r) { r.recorder().Expect("quantize_rows", {}); }

// Location of an operand of a product, in elements, or in words of int8 values.
struct Operand {
  int32_t buffer;
  Place place;
  uint32_t group;  // elements of a row that belong to one group
};

Operand OperandOf(const Recording::View& x, const LinearSpec& spec) {
  return {x.buffer, x.place, static_cast<uint32_t>(spec.in / spec.groups)};
}

Operand OperandOf(const QuantizedRows& x) {
  return {x.buffer, {x.first_word, x.groups * x.slice_words}, x.slice_words};
}

// Computes out[s] = product over slice s of the depth, without bias. The results are consecutive matrices of `rows` rows.
void ProjectSlices(Recording& r, const Product& product, const Tiling& tiling, const Recording::View& out) {
  const LinearWeight& linear = r.linear(product.weight);
  const auto splits = static_cast<uint32_t>(tiling.splits);
  for (const LinearPart& part : linear.parts) {
    // The shader treats slices as groups, each with its own columns of x and w.
    LinearParams params = {};
    params.rows = static_cast<uint32_t>(product.rows);
    params.depth = static_cast<uint32_t>(linear.spec.in) / splits;
    params.width = static_cast<uint32_t>(part.rows);
    params.x_first = product.x.place.first;
    params.x_stride = product.x.place.stride;
    params.x_group = params.depth;
    params.w_stride = RowElements(linear);
    params.w_group = params.depth;
    params.out_first = out.place.first + static_cast<uint32_t>(part.first_row);
    params.out_stride = out.place.stride;
    params.out_group = params.rows * out.place.stride;
    Dispatch(r, PipelineFor(linear.spec, product.x_reads_vec4), params, splits, tiling.tile,
             {product.x.buffer, part.buffer, linear.bias, product.x.buffer, out.buffer});
  }
}

Tiling TilingBeforeNorm(Recording& r, const Product& product) {
  const LinearSpec& spec = r.linear(product.weight).spec;
  return PlanTiles(
      {.rows = LengthBucket(product.rows),
       .depth = spec.in,
       .width = spec.out,
       .groups = spec.groups,
       .may_split = !GpuFormatOf(spec.precision).quantizes_input && PipelineFor(spec, product.x_reads_vec4).aligned,
       .most_bytes = r.recorder().limits().binding_bytes,
       .tuning = r.recorder().limits().tuning});
}

void ProjectAndNormalise(Recording& r, const Product& product, const Recording::View& residual, const NormArgs& norm,
                         Tensor out) {
  const Tiling tiling = TilingBeforeNorm(r, product);
  const Recording::View sum =
      r.TakeMatrix(tiling.splits == 1 ? out.rows : tiling.splits * LengthBucket(out.rows), out.cols);
  if (r.failed()) return;
  if (tiling.splits == 1) {
    Project(r, product, Activation::kNone, {Combined::kAdded, residual}, sum);
    Normalise(r, {.x = sum}, norm, out);
  } else {
    ProjectSlices(r, product, tiling, sum);
    const NormSum slices = {
        .x = sum, .slices = tiling.splits, .slice_bias = r.linear(product.weight).bias, .y = &residual};
    Normalise(r, slices, norm, out);
  }
  r.GiveBack(sum.buffer);
}

}  // namespace

bool ReadsVec4(const Program& program, Value value) {
  const Extent stride = program.info(program.Root(value)).cols;
  return stride.domain == Domain::kOne && stride.factor % 4 == 0 && program.info(value).first_col % 4 == 0;
}

LinearPipeline PipelineFor(const LinearSpec& spec, bool x_reads_vec4) {
  return {spec.precision, spec.wide_input, x_reads_vec4 && spec.in / spec.groups % kTileDepth == 0};
}

void ExpectLinear(Recording& r, const LinearPipeline& pipeline) {
  if (GpuFormatOf(pipeline.precision).quantizes_input) ExpectQuantizeRows(r);
  for (const TileShape& tile : r.recorder().limits().tuning.tiles)
    r.recorder().Expect(LinearShader(r, pipeline), LinearConstants(r, tile, pipeline));
}

void DispatchLinear(Recording& r, const LinearPipeline& pipeline, const LinearParams& params, uint32_t groups,
                    std::initializer_list<int32_t> buffers) {
  Dispatch(r, pipeline, params, groups, TilingOf(r, params, groups).tile, buffers);
}

void Project(Recording& r, const Product& product, Activation activation, const Combined& combined,
             const Recording::View& out) {
  const LinearWeight& linear = r.linear(product.weight);
  const LinearSpec& spec = linear.spec;
  const bool quantizes = linear.format().quantizes_input;
  QuantizedRows quantized;
  if (quantizes) quantized = QuantizeRows(r, product.x, product.rows, spec);
  if (r.failed()) return;
  const Operand x = quantizes ? OperandOf(quantized) : OperandOf(product.x, spec);
  for (const LinearPart& part : linear.parts) {
    // A part of the weights contains some rows of the only group, or several whole groups.
    const int32_t end = product.first + (product.cols > 0 ? product.cols : spec.out);
    const int32_t begin = std::max(part.first_row, product.first);
    const int32_t part_rows = std::min(part.first_row + part.rows, end) - begin;
    if (part_rows <= 0) continue;
    const uint32_t width =
        spec.groups == 1 ? static_cast<uint32_t>(part_rows) : static_cast<uint32_t>(spec.out / spec.groups);
    const uint32_t part_groups = static_cast<uint32_t>(part_rows) / width;
    const auto first = static_cast<uint32_t>(begin);
    const auto column = static_cast<uint32_t>(begin - product.first);  // of the result
    const uint32_t first_group = spec.groups == 1 ? 0 : first / width;
    LinearParams params = {};
    params.rows = static_cast<uint32_t>(product.rows);
    params.depth = x.group;
    params.width = width;
    params.x_first = x.place.first + first_group * x.group;
    params.x_stride = x.place.stride;
    params.x_group = x.group;
    params.w_stride = RowElements(linear);
    params.w_first = static_cast<uint32_t>(begin - part.first_row) * params.w_stride;
    params.w_group = width * params.w_stride;
    params.bias_first = first;
    params.bias_group = width;
    params.out_first = out.place.first + column;
    params.out_stride = out.place.stride;
    params.out_group = width;
    params.other = {combined.with.place.first + column, combined.with.place.stride};
    params.activation = static_cast<uint32_t>(activation);
    params.has_bias = 1;
    params.combine = combined.how;
    params.scales_first = static_cast<uint32_t>(spec.out) + first;
    params.weight_sums_first = 2 * static_cast<uint32_t>(spec.out) + first;
    params.x_scales = {first_group, quantized.groups};
    const int32_t other = combined.how == Combined::kNot ? product.x.buffer : combined.with.buffer;
    DispatchLinear(r, PipelineFor(spec, product.x_reads_vec4), params, part_groups,
                   {x.buffer, part.buffer, linear.bias, other, out.buffer});
  }
  r.GiveBack(quantized.buffer);
}

template <>
void Record(Recording& r, const ops::Linear& op) {
  const Tensor x = r.at(op.x);
  const Tensor out = r.at(op.out);
  const bool reads_vec4 = ReadsVec4(r.plan().program, op.x);
  if (op.norm.valid()) {
    return ProjectAndNormalise(r, {r.Of(x), reads_vec4, x.rows, op.weight}, r.Of(op.residual), op.norm, out);
  }
  const Recording::View input = r.Operand(op.x, op.out);
  Combined combined;
  if (op.factor.valid()) combined = {Combined::kMultiplied, r.Operand(op.factor, op.out)};
  if (r.failed()) return;
  Project(r, {input, reads_vec4, x.rows, op.weight, out.cols, op.first}, op.activation, combined, r.Of(out));
}

template <>
void Expect(Recording& r, const Program& program, const ops::Linear& op) {
  ExpectLinear(r, PipelineFor(program.linears[static_cast<size_t>(op.weight.id)], ReadsVec4(program, op.x)));
  if (op.norm.valid()) ExpectNorm(r);
}

}  // namespace peruse::webgpu

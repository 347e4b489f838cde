// The shaders' Params structs, with the same members as in the .wgsl files.
#pragma once

#include <cstdint>

namespace peruse::webgpu {

struct Place {
  uint32_t first = 0;
  uint32_t stride = 0;
};

struct LinearParams {
  uint32_t rows, depth, width;
  uint32_t x_first, x_stride, x_group;
  uint32_t w_first, w_stride, w_group;
  uint32_t bias_first, bias_group;
  uint32_t out_first, out_stride, out_group;
  Place other;
  uint32_t activation, has_bias, combine;
  uint32_t scales_first, weight_sums_first;  // of the weights; only for kQ8
  Place x_scales;
};

struct QuantizeRowsParams {
  uint32_t rows, groups, depth;
  Place x;
  uint32_t levels, first_word, words, wide;
};

struct NormParams {
  uint32_t rows, width;
  float eps;
  Place x, y;
  uint32_t weight_first, bias_first;
  Place out;
  uint32_t has_y;
  uint32_t slices, slice, has_slice_bias, has_bias;
};

struct AttentionParams {
  float scale;
  Place query, key, value, out;
  uint32_t first_head, position_stride, slots, first_slot, reach, has_position_key, has_position_query;
  uint32_t has_position_bias;
  Place bias;
  uint32_t head_dim, groups, before, after, key_limit;
};

struct ProbabilitiesParams {
  float scale;
  Place query, key, out;
  uint32_t heads, first_head, position_stride, slots, first_slot, reach;
  uint32_t has_position_key, has_position_query, has_position_bias;
  Place bias;
  uint32_t longest, head_dim, groups, before, after, key_limit;
};

struct DepthwiseConvParams {
  uint32_t columns;
  Place x, taps, out;
  uint32_t tap_count;
};

struct SpanConvParams {
  uint32_t columns;
  Place logits, values, out;
  uint32_t taps, head_dim;
};

struct LinearSpanConvParams {
  uint32_t depth;
  Place x;
  uint32_t w_stride;
  Place values, out;
  uint32_t head_dim;
};

struct SpanKernelsParams {
  uint32_t rows, heads;
  Place logits, out;
  uint32_t taps;
};

struct UnfoldParams {
  uint32_t columns, group_width;
  Place x, out;
  uint32_t taps;
};

struct PairParams {
  uint32_t rows, columns;
  Place x, y, out;
  uint32_t activation;
};

struct SelectRowsParams {
  uint32_t rows, columns;
  Place x, out;
};

struct LstmParams {
  uint32_t rows, width, reverse;
  Place gates, recurrent;
  uint32_t bias_first;
  Place out;
};

struct RotateParams {
  uint32_t rows, columns, half;
  Place x, angles, out;
};

struct NormalizeParams {
  uint32_t rows, width;
  float eps;
  Place x, out;
};

struct RmsNormParams {
  uint32_t all, blocks, width;
  float eps, offset;
  Place x;
  uint32_t weight_first;
  Place out;
};

struct PoolRowsParams {
  uint32_t rows, columns, blocks, stride, kind;
  Place x, out;
};

struct CrossScoresParams {
  float scale;
  uint32_t queries, keys, heads, depth;
  Place query, key;
};

struct CrossContextParams {
  uint32_t queries, keys, heads, columns, over_queries;
  Place value, out;
};

struct ActivateParams {
  uint32_t rows, columns;
  Place x, out;
  uint32_t activation;
};

}  // namespace peruse::webgpu

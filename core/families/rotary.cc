#include "core/families/rotary.h"

#include <algorithm>
#include <cmath>

#include "core/base/elementary.h"
#include "core/base/utf8.h"
#include "core/families/transformer.h"

namespace peruse {

namespace {

using Kind = ops::RotaryScaling::Kind;

// The fields of rope_type "yarn" (Peng et al., 2023).
void ReadYarn(ConfigReader& own, const RopeSizes& sizes, double theta, ops::RotaryScaling* scaling) {
  const double factor = static_cast<double>(scaling->factor);
  // Returns the column whose frequency makes this number of turns in the original length.
  const auto column = [&](float turns) {
    const double length = static_cast<double>(scaling->original) / (static_cast<double>(turns) * 2 * M_PI);
    return sizes.head_dim * NaturalLog(length) / (2 * NaturalLog(theta));
  };
  double low = column(own.Float("beta_fast", 32, 1e-3f, 1e6f));
  double high = column(own.Float("beta_slow", 1, 1e-3f, 1e6f));
  if (own.Bool("truncate", true)) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0);
  high = std::min(high, sizes.head_dim - 1.0);
  if (low == high) high += 0.001;
  if (!(low < high)) own.Refuse("beta_fast", "must be larger than beta_slow");
  scaling->low = static_cast<float>(low), scaling->high = static_cast<float>(high);

  const auto amplitude = [&](double scale) { return factor <= 1 ? 1 : 0.1 * scale * NaturalLog(factor) + 1; };
  const auto some = static_cast<double>(own.Float("mscale", 0, 0, 1e3f));
  const auto all = static_cast<double>(own.Float("mscale_all_dim", 0, 0, 1e3f));
  const double inferred = some > 0 && all > 0 ? amplitude(some) / amplitude(all) : amplitude(1);
  scaling->amplitude = own.Float("attention_factor", static_cast<float>(inferred), 1e-3f, 1e3f);
}

// The fields of rope_type "llama3".
void ReadLlama3(ConfigReader& own, ops::RotaryScaling* scaling) {
  const float low = own.Float("low_freq_factor", 1, 1e-3f, 1e6f);
  const float high = own.Float("high_freq_factor", 4, 1e-3f, 1e6f);
  if (!(low < high)) own.Refuse("high_freq_factor", "must be larger than low_freq_factor");
  scaling->low = scaling->original / low, scaling->high = scaling->original / high;
}

}  // namespace

void ReadRope(ConfigReader& reader, JsonValue parameters, const RopeSizes& sizes, ops::RotaryAngles* angles) {
  ConfigReader own(parameters);
  ops::RotaryScaling scaling;
  const std::string type = own.String("rope_type", own.String("type", "default"));
  angles->theta = own.Float("rope_theta", angles->theta, 1, 1e12f);
  scaling.factor = own.Float("factor", 1, 1e-3f, 1e6f);
  scaling.original = static_cast<float>(own.Int("original_max_position_embeddings", sizes.positions, 1, kMaxPositions));
  if (type == "linear") {
    scaling.kind = Kind::kLinear;
  } else if (type == "dynamic") {
    scaling.kind = Kind::kDynamic;
    scaling.original = static_cast<float>(sizes.positions);  // the only length that transformers reads here
    if (sizes.head_dim <= 2) own.Refuse("rope_type", "needs heads of more than two columns");
  } else if (type == "yarn") {
    scaling.kind = Kind::kYarn;
    ReadYarn(own, sizes, static_cast<double>(angles->theta), &scaling);
  } else if (type == "llama3") {
    scaling.kind = Kind::kLlama3;
    ReadLlama3(own, &scaling);
  } else if (type != "default") {
    reader.Fail(Unsupported("config.json: rope_type \"" + Excerpt(type) +
                            "\" is not supported; use \"default\", \"linear\", \"dynamic\", \"yarn\" or \"llama3\""));
  }
  if (own.Float("partial_rotary_factor", 1, 0, 1) != 1) {
    reader.Fail(Unsupported("config.json: partial_rotary_factor other than 1 is not supported"));
  }
  if (scaling.kind != Kind::kNone) angles->scaling = scaling;
  reader.Fail(own.status());
}

RopeSizes RopeSizesOf(const ModelConfig& config) {
  return {config.hidden_size / config.num_attention_heads, config.max_position_embeddings};
}

void RequireRotaryHeads(ConfigReader& reader, const ModelConfig& config) {
  RequireWholeHeads(reader, config);
  const int32_t head_dim = config.hidden_size / config.num_attention_heads;
  if (head_dim % 2 != 0) {
    reader.Refuse("num_attention_heads", "which leaves heads of odd width; rotation needs even ones");
  }
  if (reader.Int("head_dim", head_dim, 1, kMaxHidden) != head_dim) {
    reader.Fail(Unsupported("config.json: head_dim other than hidden_size / num_attention_heads is not supported"));
  }
}

Stack LinearsOf(Build& b, const std::vector<std::string>& names, int32_t in, int32_t out, bool bias) {
  Stack stack = b.Stacked(in);
  const auto parts = static_cast<int32_t>(names.size());
  for (int32_t i = 0; i < parts; ++i) {
    const std::string& name = names[static_cast<size_t>(i)];
    stack.AddWeight({name + ".weight"}, {out / parts, in}, out / parts);
    if (bias) stack.AddBias({name + ".bias"}, {out / parts}, i * (out / parts));
  }
  return stack;
}

Value RotaryAttention(Build& b, const ModelConfig& config, int32_t layer, Value projected, Value angles,
                      int32_t window) {
  const int32_t hidden = config.hidden_size;
  const Value pairs = b.Columns(projected, 0, 2 * hidden);  // queries and keys
  const Value turned = angles.valid() ? b.Rotate(pairs, angles) : pairs;
  ops::Attention attention = {.query = b.Columns(turned, 0, hidden),
                              .key = b.Columns(turned, hidden, hidden),
                              .value = b.Columns(projected, 2 * hidden, hidden),
                              .heads = config.num_attention_heads};
  attention.scale = 1.0f / std::sqrt(static_cast<float>(hidden / config.num_attention_heads));
  attention.before = attention.after = window;
  const auto [context, probabilities] = b.Attention(attention);
  b.Output({OutputKind::kAttention, layer}, probabilities);
  return MaskHeads(b, layer, context);
}

namespace {

// Sums the outputs of a token's experts, each times its probability among all experts.
Value MixExperts(Build& b, const ModelConfig& config, const PostNormLayer& layer, Value x) {
  const int32_t hidden = config.hidden_size, wide = config.intermediate_size, count = layer.experts;
  const std::string experts = layer.mixture + "experts.";
  // In float32: which experts a token passes through would depend on the precision.
  const Value router =
      b.Linear(x, b.StackedF32(hidden).AddWeight({layer.mixture + "router.layer.weight"}, {count, hidden}, count));
  const LinearId up =
      b.Weights(b.Stacked(hidden).AddWeight({experts + "mlp.w1"}, {int64_t{count} * wide, hidden}, count * wide));
  const LinearId down =
      b.Weights(b.Stacked(wide).AddTransposedParts(experts + "mlp.w2", count, count * hidden).WithWideInput());
  const Value between =
      b.Activate(b.Experts({.x = x, .router = router, .weight = up, .chosen = layer.chosen}), config.hidden_act);
  const Value mixed = b.Experts({.x = between, .router = router, .weight = down, .chosen = layer.chosen, .sums = true});
  return b.Add(mixed, b.ConstantRow(experts + "bias", hidden));
}

Value FeedForwardOf(Build& b, const ModelConfig& config, const PostNormLayer& layer, Value x) {
  if (layer.experts > 0) return MixExperts(b, config, layer, x);
  const int32_t hidden = config.hidden_size, wide = config.intermediate_size;
  const Value up = b.Linear(x, LinearsOf(b, layer.up_and_gate, hidden, layer.gated ? 2 * wide : wide, layer.up_bias));
  const Stack down = LinearsOf(b, {layer.down}, wide, hidden, layer.down_bias).WithWideInput();
  if (!layer.gated) return b.Linear(b.Activate(up, config.hidden_act), down);
  const auto [plain, gate] = b.Split<2>(up);
  const Value between = b.Multiply(b.Activate(gate, config.hidden_act), plain);
  if (layer.drops_gated) b.Dropped(between);
  return b.Linear(between, down);
}

}  // namespace

Value PostNormEncoder(Build& b, const ModelConfig& config, const ops::RotaryAngles& angles, Value x,
                      const std::vector<PostNormLayer>& layers) {
  const int32_t hidden = config.hidden_size;
  const float eps = config.layer_norm_eps;
  const Value turns = b.RotaryAngles(angles, hidden / config.num_attention_heads);
  for (int32_t i = 0; i < config.num_hidden_layers; ++i) {
    const PostNormLayer& layer = layers[static_cast<size_t>(i)];
    const Value projected = b.Linear(x, LinearsOf(b, layer.projection, hidden, 3 * hidden, layer.attention_bias));
    const Value context = RotaryAttention(b, config, i, projected, turns);
    const Stack output = LinearsOf(b, {layer.attention_output}, hidden, hidden, layer.attention_bias);
    x = b.LayerNorm(b.Add(b.Dropped(b.Linear(context, output)), x), b.Norm(layer.attention_norm, hidden, eps));

    x = b.LayerNorm(b.Add(b.Dropped(FeedForwardOf(b, config, layer, x)), x), b.Norm(layer.norm, hidden, eps));
    b.Output({OutputKind::kHidden, i + 1}, x);
  }
  return x;
}

}  // namespace peruse

#include "core/families/rotary.h"

#include <cmath>

#include "core/base/utf8.h"
#include "core/families/transformer.h"

namespace peruse {

void ReadRope(ConfigReader& reader, JsonValue parameters, ops::RotaryAngles* angles) {
  ConfigReader own(parameters);
  const std::string type = own.String("rope_type", own.String("type", "default"));
  if (type == "linear") {
    angles->divisor = own.Float("factor", 1, 1e-3f, 1e6f);
  } else if (type != "default") {
    reader.Fail(Unsupported("config.json: rope_type \"" + Excerpt(type) +
                            "\" is not supported; use \"default\" or \"linear\""));
  }
  angles->theta = own.Float("rope_theta", angles->theta, 1, 1e12f);
  reader.Fail(own.status());
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
  const Value turned = b.Rotate(b.Columns(projected, 0, 2 * hidden), angles);  // queries and keys, rotated by position
  ops::Attention attention = {.query = b.Columns(turned, 0, hidden),
                              .key = b.Columns(turned, hidden, hidden),
                              .value = b.Columns(projected, 2 * hidden, hidden),
                              .heads = config.num_attention_heads};
  attention.scale = 1.0f / std::sqrt(static_cast<float>(hidden / config.num_attention_heads));
  attention.window = window;
  const auto [context, probabilities] = b.Attention(attention);
  b.Output({OutputKind::kAttention, layer}, probabilities);
  return MaskHeads(b, layer, context);
}

Value PostNormEncoder(Build& b, const ModelConfig& config, const ops::RotaryAngles& angles, Value x,
                      const std::vector<PostNormLayer>& layers) {
  const int32_t hidden = config.hidden_size, wide = config.intermediate_size;
  const float eps = config.layer_norm_eps;
  const Value turns = b.RotaryAngles(angles, hidden / config.num_attention_heads);
  for (int32_t i = 0; i < config.num_hidden_layers; ++i) {
    const PostNormLayer& layer = layers[static_cast<size_t>(i)];
    const Value projected = b.Linear(x, LinearsOf(b, layer.projection, hidden, 3 * hidden, layer.attention_bias));
    const Value context = RotaryAttention(b, config, i, projected, turns);
    const Stack output = LinearsOf(b, {layer.attention_output}, hidden, hidden, layer.attention_bias);
    x = b.LayerNorm(b.Add(b.Dropped(b.Linear(context, output)), x), b.Norm(layer.attention_norm, hidden, eps));

    const auto [up, gate] = b.Split<2>(b.Linear(x, LinearsOf(b, layer.up_and_gate, hidden, 2 * wide, layer.up_bias)));
    const Value between = b.Multiply(b.Activate(gate, config.hidden_act), up);
    if (layer.drops_gated) b.Dropped(between);
    const Stack down = LinearsOf(b, {layer.down}, wide, hidden, layer.down_bias).WithWideInput();
    x = b.LayerNorm(b.Add(b.Dropped(b.Linear(between, down)), x), b.Norm(layer.norm, hidden, eps));
    b.Output({OutputKind::kHidden, i + 1}, x);
  }
  return x;
}

}  // namespace peruse

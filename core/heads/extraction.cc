#include "core/heads/extraction.h"

#include <cmath>
#include <string>

#include "core/heads/head_indices.h"
#include "core/heads/pairs.h"

namespace peruse {
namespace {

constexpr const char* kCounter = "count_embed.";
constexpr float kEps = 1e-5f;

Value Relu(Build& b, Value x) { return b.Activate(x, Activation::kRelu); }

Value Line(Build& b, Value x, const std::string& name, int32_t out) {
  return b.Linear(x, b.StackedF32(b.cols(x)).Add(name, out));
}

LinearId Gates(Build& b, const std::string& which, int32_t width) {
  const std::string gru = std::string(kCounter) + "gru.";
  Stack stack = b.StackedF32(width).AddWeight({gru + "weight_" + which + "_l0"}, {3 * width, width}, 3 * width);
  return b.Weights(stack.AddBias({gru + "bias_" + which + "_l0"}, {3 * width}, 0));
}

// torch.nn.GRU over the occurrences, whose input is the number of the occurrence and whose initial states are the fields. Returns the states.
std::vector<Value> Occurrences(Build& b, Value fields, Value minus_one) {
  const int32_t width = b.cols(fields);
  const Value numbers = b.Constant(std::string(kCounter) + "pos_embedding.weight", kMostOccurrences, width);
  const Value inputs = b.Linear(numbers, Gates(b, "ih", width));
  const LinearId recurrent = Gates(b, "hh", width);
  std::vector<Value> states;
  Value state = fields;
  for (int32_t t = 0; t + 1 < kMostOccurrences; ++t) {
    const auto [r_in, z_in, n_in] = b.Split<3>(b.SelectRows(inputs, indices::Row{.row = t}));
    const auto [r_state, z_state, n_state] = b.Split<3>(b.Linear(state, recurrent));
    const Value reset = b.Activate(b.Add(r_state, r_in), Activation::kSigmoid);
    const Value update = b.Add(z_state, z_in);
    const Value keeps = b.Activate(update, Activation::kSigmoid);
    const Value changes = b.Activate(b.Multiply(update, minus_one), Activation::kSigmoid);  // 1 - keeps
    const Value candidate = b.Activate(b.Add(b.Multiply(reset, n_state), n_in), Activation::kTanh);
    state = b.Add(b.Multiply(changes, candidate), b.Multiply(keeps, state));
    states.push_back(state);
  }
  return states;
}

struct EncoderLayer {
  LinearId attention, out, wide, narrow;
  NormArgs first_norm, second_norm;
};

// torch.nn.TransformerEncoderLayer, with norms after the sums.
EncoderLayer LayerOf(Build& b, const std::string& name, int32_t width) {
  Stack stack = b.StackedF32(width).AddWeight({name + "self_attn.in_proj_weight"}, {3 * width, width}, 3 * width);
  return {.attention = b.Weights(stack.AddBias({name + "self_attn.in_proj_bias"}, {3 * width}, 0)),
          .out = b.Weights(b.StackedF32(width).Add(name + "self_attn.out_proj", width)),
          .wide = b.Weights(b.StackedF32(width).Add(name + "linear1", 2 * width)),
          .narrow = b.Weights(b.StackedF32(2 * width).Add(name + "linear2", width)),
          .first_norm = b.Norm(name + "norm1", width, kEps),
          .second_norm = b.Norm(name + "norm2", width, kEps)};
}

Value RunLayer(Build& b, Value x, const EncoderLayer& layer) {
  constexpr int32_t kHeads = 4;
  const auto [query, key, value] = b.Split<3>(b.Linear(x, layer.attention));
  const auto head_width = static_cast<float>(b.cols(x) / kHeads);
  const Value context = b.CrossAttention(
      {.query = query, .key = key, .value = value, .heads = kHeads, .scale = 1.0f / std::sqrt(head_width)});
  x = b.LayerNorm(b.Add(b.Linear(context, layer.out), x), layer.first_norm);
  const Value wide = Relu(b, b.Linear(x, layer.wide));
  return b.LayerNorm(b.Add(b.Linear(wide, layer.narrow), x), layer.second_norm);
}

// CountLSTM's projector: an MLP of a state and its field.
std::vector<Value> Projected(Build& b, const std::vector<Value>& states, Value fields) {
  const std::string name = std::string(kCounter) + "projector.";
  const int32_t width = b.cols(fields);
  const LinearId of_state = b.Weights(b.ColumnsOf(name + "0", 0, width, 2 * width, 4 * width));
  const Value of_field = Part(b, fields, name + "0", width, 2 * width, 4 * width);
  const LinearId out = b.Weights(name + "2", 4 * width, width);
  std::vector<Value> queries;
  for (const Value state : states) {
    queries.push_back(b.Linear(Relu(b, b.Add(b.Linear(state, of_state), of_field)), out));
  }
  return queries;
}

// CountLSTMv2's DownscaledTransformer: the fields of an occurrence attend to each other.
std::vector<Value> Transformed(Build& b, const std::vector<Value>& states, Value fields) {
  constexpr int32_t kWidth = 128;
  const std::string name = std::string(kCounter) + "transformer.";
  const int32_t width = b.cols(fields);
  const LinearId in = b.Weights(b.StackedF32(width).Add(name + "in_projector", kWidth));
  const EncoderLayer layers[] = {LayerOf(b, name + "transformer.layers.0.", kWidth),
                                 LayerOf(b, name + "transformer.layers.1.", kWidth)};
  const std::string out = name + "out_projector.";
  const LinearId outs[] = {b.Weights(b.StackedF32(kWidth + width).Add(out + "0", width)),
                           b.Weights(b.StackedF32(width).Add(out + "2", width)),
                           b.Weights(b.StackedF32(width).Add(out + "4", width))};
  std::vector<Value> queries;
  for (const Value state : states) {
    const Value original = b.Add(state, fields);
    Value x = b.Linear(original, in);
    for (const EncoderLayer& layer : layers) x = RunLayer(b, x, layer);
    x = Relu(b, b.Linear(b.Concat(x, original), outs[0]));
    queries.push_back(b.Linear(Relu(b, b.Linear(x, outs[1])), outs[2]));
  }
  return queries;
}

Value ClassifierOf(Build& b, Value x, const std::string& name, int32_t out) {
  return Line(b, Relu(b, Line(b, x, name + ".0", 2 * b.cols(x))), name + ".2", out);
}

}  // namespace

void BuildHead(Build& b, Value hidden, const ExtractionHead& head) {
  const int32_t width = head.spans.width;
  const Value markers = b.SelectRows(hidden, indices::Labels{});
  b.Output(kLogits, ClassifierOf(b, markers, "classifier", 1));
  b.Output(kCounts, ClassifierOf(b, markers, "count_pred", kMostOccurrences));
  b.Output(kFieldVectors, markers);
  b.Output(kSpanVectors, SpanVectors(b, WordVectors(b, hidden, head.spans), head.spans));

  const auto [fields, minus_one] = b.Split<2>(b.Input(0, {Domain::kLabels, 1}, 2 * width));
  const std::vector<Value> states = Occurrences(b, fields, minus_one);
  const bool transforms = head.counting == ExtractionHead::Counting::kLstmV2;
  const std::vector<Value> queries = transforms ? Transformed(b, states, fields) : Projected(b, states, fields);
  for (size_t t = 0; t < queries.size(); ++t) {
    b.Output(QueriesOf(static_cast<int32_t>(t)), queries[t]);
  }
}

std::vector<float> QueryInputs(std::span<const float> fields, size_t width) {
  std::vector<float> inputs;
  inputs.reserve(2 * fields.size());
  for (size_t at = 0; at + width <= fields.size(); at += width) {
    inputs.insert(inputs.end(), fields.begin() + static_cast<std::ptrdiff_t>(at),
                  fields.begin() + static_cast<std::ptrdiff_t>(at + width));
    inputs.insert(inputs.end(), width, -1.0f);
  }
  return inputs;
}

}  // namespace peruse

#include "core/heads/pairs.h"

#include "core/heads/head_indices.h"

namespace peruse {

Value Mlp(Build& b, Value x, const std::string& name, int32_t inner, int32_t out) {
  const Value hidden = b.Activate(b.Linear(x, b.StackedF32(b.cols(x)).Add(name + ".0", inner)), Activation::kRelu);
  return b.Linear(hidden, b.StackedF32(inner).Add(name + ".3", out));
}

Value Part(Build& b, Value x, const std::string& name, int32_t first, int32_t all, int32_t out) {
  Stack stack = b.ColumnsOf(name, first, b.cols(x), all, out);
  if (first + b.cols(x) == all) stack.AddBias({name + ".bias"}, {out}, 0);
  return b.Linear(x, stack);
}

Value AddPairs(Build& b, Value x, Value y) {
  return b.Add(b.SelectRows(x, indices::PairFirst{}), b.SelectRows(y, indices::PairSecond{}));
}

Value PairScores(Build& b, Value x, Value y, const std::string& scorer, const char* x_name, int32_t scores) {
  const int32_t width = b.cols(x);
  const auto project = [&](Value value, const std::string& name) {
    return b.Split<2>(b.Linear(value, b.StackedF32(width).Add(scorer + name, 2 * width)));
  };
  const auto [x_sum, x_product] = project(x, x_name);
  const auto [y_sum, y_product] = project(y, "proj_label");
  const std::string mlp = scorer + "out_mlp.0";
  const int32_t inner = 4 * width;
  const Value product =
      b.Multiply(b.SelectRows(x_product, indices::PairFirst{}), b.SelectRows(y_product, indices::PairSecond{}));
  const Value sum = AddPairs(b, Part(b, x_sum, mlp, 0, 3 * width, inner), Part(b, y_sum, mlp, width, 3 * width, inner));
  const Value hidden = b.Activate(b.Add(sum, Part(b, product, mlp, 2 * width, 3 * width, inner)), Activation::kRelu);
  return b.Linear(hidden, b.StackedF32(inner).Add(scorer + "out_mlp.3", scores));
}

Value BiLstm(Build& b, Value x, const std::string& lstm, int32_t layer) {
  const int32_t width = b.cols(x) / 2;
  const std::string number = std::to_string(layer);
  Value directions[2];
  for (const bool reverse : {false, true}) {
    const auto name = [&](const char* what) { return lstm + what + "_l" + number + (reverse ? "_reverse" : ""); };
    const int32_t gates = 4 * width;
    const Stack stack = b.StackedF32(2 * width)
                            .AddWeight({name("weight_ih")}, {gates, 2 * width}, gates)
                            .AddBias({name("bias_ih")}, {gates}, 0);
    const Value recurrent = b.TransposedConstant(name("weight_hh"), width, gates);
    directions[reverse] = b.Lstm(b.Linear(x, stack), recurrent, b.ConstantRow(name("bias_hh"), gates), reverse);
  }
  return b.Concat(directions[0], directions[1]);
}

}  // namespace peruse

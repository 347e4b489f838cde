#include "tests/native/ops/op_case.h"

#include <algorithm>
#include <numeric>
#include <string_view>

namespace peruse::testing {

int32_t OpCase::rows() const { return std::accumulate(lengths.begin(), lengths.end(), 0); }
int32_t OpCase::longest() const { return *std::max_element(lengths.begin(), lengths.end()); }

std::string OpCase::name() const {
  std::string name = operation;
  const auto add = [&name](const char* label, int32_t value) {
    name += "_" + std::string(label) + std::to_string(value);
  };
  for (int32_t length : lengths) add("", length);
  add("cols", cols);
  if (out > 0) add("out", out);
  if (groups > 1) add("groups", groups);
  if (heads > 1) add("heads", heads);
  if (kernel > 0) add("kernel", kernel);
  if (activation != Activation::kNone) add("act", static_cast<int32_t>(activation));
  if (std::string_view(operation) == "DisentangledAttention") add("slots", static_cast<int32_t>(slots));
  if (position_key) name += "_c2p";
  if (position_query) name += "_p2c";
  if (strided_in) name += "_stridedIn";
  if (strided_out) name += "_stridedOut";
  if (extra_output) name += "_extra";
  if (broadcast) name += "_broadcast";
  if (half_weights) name += "_half";
  if (q8) name += wide_input ? "_q8wide" : "_q8";
  if (offset != 0) name += "_offset";
  return name;
}

Cases AllCases() {
  Cases cases;
  for (const auto add : {AddInputCases, AddEmbedCases, AddLinearCases, AddLayerNormCases, AddActivateCases, AddAddCases,
                         AddMultiplyCases, AddAttentionCases, AddDepthwiseConvCases, AddSpanConvCases, AddConv1dCases,
                         AddSelectRowsCases, AddMatMulCases, AddLstmCases, AddPoolRowsCases, AddCrossAttentionCases,
                         AddNormalizeCases}) {
    add(cases);
  }
  return cases;
}

}  // namespace peruse::testing

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
  if (keys > 0) add("keys", keys);
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

void AddPairCases(const char* operation, WriteCase write, Cases& cases) {
  for (int32_t cols : {1, 3, 4, 7, 8, 9, 33})
    cases.push_back({.operation = operation, .write = write, .lengths = {3}, .cols = cols});
  OpCase ragged = {.operation = operation, .write = write, .lengths = kRagged, .cols = 21, .broadcast = true};
  cases.push_back(ragged);
  ragged.broadcast = false;
  ragged.strided_in = ragged.strided_out = true;
  cases.push_back(ragged);
}

void AddKernelCases(const char* operation, WriteCase write, Cases& cases) {
  OpCase one = {
      .operation = operation, .write = write, .lengths = kOneRow, .cols = 32, .out = 24, .heads = 2, .kernel = 9};
  OpCase strided = one;
  strided.lengths = {5, 40};
  strided.kernel = 5;
  strided.strided_in = strided.strided_out = strided.extra_output = true;
  cases.push_back(strided);
  cases.push_back(one);
}

Cases AllCases() {
  Cases cases;
  for (const auto add : {AddInputCases,         AddEmbedCases,    AddLinearCases,    AddLayerNormCases,
                         AddActivateCases,      AddAddCases,      AddMultiplyCases,  AddAttentionCases,
                         AddDepthwiseConvCases, AddSpanConvCases, AddConv1dCases,    AddSelectRowsCases,
                         AddMatMulCases,        AddLstmCases,     AddPoolRowsCases,  AddCrossAttentionCases,
                         AddNormalizeCases,     AddRotaryCases,   AddAlibiBiasCases, AddRmsNormCases,
                         AddExpertsCases}) {
    add(cases);
  }
  return cases;
}

}  // namespace peruse::testing

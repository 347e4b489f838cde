#include "core/model/shared_weights.h"

#include <algorithm>

#include "core/formats/weight_format.h"

namespace peruse {
namespace {

using Tensors = std::vector<size_t>;

bool IsOf(const ParameterId& id, ParameterId::Kind kind) {
  return id.kind == kind || (kind == ParameterId::Kind::kWeight && id.kind == ParameterId::Kind::kBias);
}

std::vector<Tensors> TensorsOf(const Parameters& parameters, ParameterId::Kind kind, size_t count) {
  std::vector<Tensors> lists(count);
  for (size_t i = 0; i < parameters.tensors.size(); ++i) {
    const ParameterId& id = parameters.tensors[i].parameter;
    if (IsOf(id, kind)) lists[static_cast<size_t>(id.number)].push_back(i);
  }
  return lists;
}

// Whether both use the same tensor in the same layout, even if parameter and head differ.
bool IsSame(const ParameterTensor& a, const ParameterTensor& b) {
  return a.parameter.kind == b.parameter.kind && a.layout == b.layout && a.names == b.names && a.if_has == b.if_has &&
         a.shape == b.shape;
}

// Whether the layers are the same as declared. A file may have given one of them the format of its rows.
bool IsSame(LinearSpec a, const LinearSpec& b) {
  if (&FormatOf(a.precision).linear_format() == &FormatOf(b.precision).linear_format()) a.precision = b.precision;
  return a == b;
}

// Returns, for each list of tensors in `wanted`, the index of an equal list in `held` for which fits(i, j) returns true; otherwise -1.
template <typename Fits>
std::vector<int32_t> Match(const Parameters& parameters, const std::vector<Tensors>& wanted, const Parameters& from,
                           const std::vector<Tensors>& held, Fits fits) {
  const auto same_tensors = [&](const Tensors& a, const Tensors& b) {
    return !a.empty() && std::equal(a.begin(), a.end(), b.begin(), b.end(),
                                    [&](size_t i, size_t j) { return IsSame(parameters.tensors[i], from.tensors[j]); });
  };
  std::vector<int32_t> matches;
  for (size_t i = 0; i < wanted.size(); ++i) {
    int32_t match = -1;
    for (size_t j = 0; j < held.size() && match < 0; ++j) {
      if (fits(i, j) && same_tensors(wanted[i], held[j])) match = static_cast<int32_t>(j);
    }
    matches.push_back(match);
  }
  return matches;
}

}  // namespace

std::vector<bool> TakeHeld(const HeldWeights& from, const Parameters& parameters, Weights* weights,
                           LinearHolds* holds) {
  std::vector<bool> whole(parameters.tensors.size());
  const auto take = [&](ParameterId::Kind kind, size_t count, size_t held_count, auto fits, auto copy) {
    const std::vector<Tensors> wanted = TensorsOf(parameters, kind, count);
    const std::vector<int32_t> matches =
        Match(parameters, wanted, from.parameters, TensorsOf(from.parameters, kind, held_count), fits);
    for (size_t i = 0; i < count; ++i) {
      if (matches[i] < 0) continue;
      copy(i, static_cast<size_t>(matches[i]));
      for (const size_t tensor : wanted[i]) whole[tensor] = true;
    }
  };
  take(
      ParameterId::Kind::kWeight, parameters.linears.size(), from.parameters.linears.size(),
      [&](size_t i, size_t j) { return IsSame(parameters.linears[i], from.parameters.linears[j]); },
      [&](size_t i, size_t j) {
        weights->linears[i] = from.weights.linears[j];
        (*holds)[i] = from.holds[j];
      });
  take(
      ParameterId::Kind::kConstant, parameters.constants.size(), from.parameters.constants.size(),
      [&](size_t i, size_t j) {
        return parameters.constants[i].rows == from.parameters.constants[j].rows &&
               parameters.constants[i].cols == from.parameters.constants[j].cols;
      },
      [&](size_t i, size_t j) { weights->constants[i] = from.weights.constants[j]; });
  take(
      ParameterId::Kind::kTable, parameters.tables.size(), from.parameters.tables.size(),
      [&](size_t i, size_t j) { return parameters.tables[i].words == from.parameters.tables[j].words; },
      [&](size_t i, size_t j) { weights->tables[i] = from.weights.tables[j]; });
  return whole;
}

}  // namespace peruse

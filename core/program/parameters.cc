#include "core/program/parameters.h"

namespace peruse {

int64_t Parameters::rows(ParameterId id) const {
  switch (id.kind) {
    case ParameterId::Kind::kWeight:
    case ParameterId::Kind::kBias:
      return linear(id).out;
    case ParameterId::Kind::kConstant:
      return constant(id).rows;
    case ParameterId::Kind::kTable:
      return table(id).rows;
  }
  return 0;
}

int64_t Parameters::cols(ParameterId id) const {
  switch (id.kind) {
    case ParameterId::Kind::kWeight:
      return linear(id).in / linear(id).groups;
    case ParameterId::Kind::kBias:
      return 1;
    case ParameterId::Kind::kConstant:
      return constant(id).cols;
    case ParameterId::Kind::kTable:
      return table(id).cols;
  }
  return 0;
}

}  // namespace peruse

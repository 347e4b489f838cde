// The parameters of a program: their sizes, and the tensors of a checkpoint that fill them.
//
// Plain data that outlives loading: Checkpoint reads it to load, a trainer to find what it changes and to write it back.
// Names are those of transformers, without the encoder's prefix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/formats/linear_spec.h"
#include "core/program/layout.h"

namespace peruse {

// A matrix that is constant during a run.
struct ConstantSpec {
  int32_t rows = 0;
  int32_t cols = 0;
};

// An embedding table, in host memory.
struct TableSpec {
  int32_t rows = 0;
  int32_t cols = 0;
  bool words = false;  // with kQ8 stored as int8 by row
};

// One matrix of the parameters.
struct ParameterId {
  enum class Kind : uint8_t {
    kWeight,    // of a linear: [out, in / groups]
    kBias,      // of a linear: [out, 1]
    kConstant,  // [rows, cols]
    kTable,     // [rows, cols]
  };

  Kind kind = Kind::kWeight;
  int32_t number = 0;  // of the linear, constant or table

  bool operator==(const ParameterId&) const = default;
};

// A tensor of the checkpoint that fills a parameter, or a part of one.
struct ParameterTensor {
  ParameterId parameter;
  Layout layout;
  // Names that checkpoints may have for the tensor. The first of them that the checkpoint has counts, else the first.
  std::vector<std::string> names;
  std::vector<std::string> if_has;  // by name, the tensor whose presence selects that name; if empty, the tensor itself
  std::vector<int64_t> shape;
  std::string head;  // the head that the tensor belongs to, for messages; empty for the encoder
};

struct Parameters {
  std::vector<LinearSpec> linears;      // by LinearId
  std::vector<ConstantSpec> constants;  // by ValueInfo::constant
  std::vector<TableSpec> tables;        // by TableId
  std::vector<ParameterTensor> tensors;
  // Prefixes of names that no checkpoint may have: parts that the configuration does not mention, and that would be left out.
  std::vector<std::string> refused;

  const LinearSpec& linear(ParameterId id) const { return linears[static_cast<size_t>(id.number)]; }
  const ConstantSpec& constant(ParameterId id) const { return constants[static_cast<size_t>(id.number)]; }
  const TableSpec& table(ParameterId id) const { return tables[static_cast<size_t>(id.number)]; }
  int64_t rows(ParameterId id) const;
  int64_t cols(ParameterId id) const;
  // The tensor outlives the result.
  Placement placement(const ParameterTensor& tensor) const {
    return {tensor.layout, tensor.shape, cols(tensor.parameter)};
  }
};

}  // namespace peruse

// The parameters of a program: their sizes, and the checkpoint tensors that fill them. Plain data that outlives loading: a trainer uses it
// to find and write tensors. Names are those of transformers, without the encoder's prefix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/formats/linear_spec.h"
#include "core/program/layout.h"

namespace peruse {

struct ConstantSpec {
  int32_t rows = 0;
  int32_t cols = 0;
};

struct TableSpec {
  int32_t rows = 0;
  int32_t cols = 0;
  bool words = false;  // whether these are token embeddings, which WeightFormat::TableType may encode
};

struct ParameterId {
  enum class Kind : uint8_t {
    kWeight,    // of a linear layer: [out, in / groups]
    kBias,      // of a linear layer: [out, 1]
    kConstant,  // [rows, cols]
    kTable,     // [rows, cols]
  };

  Kind kind = Kind::kWeight;
  int32_t number = 0;  // number of the linear layer, constant or table

  bool operator==(const ParameterId&) const = default;
};

// A checkpoint tensor that fills a parameter, or part of one.
struct ParameterTensor {
  ParameterId parameter;
  Layout layout;
  // Possible names in checkpoints. The first name that a checkpoint has is used; messages give the first of the list.
  std::vector<std::string> names;
  // For each name, the tensor whose presence selects it; an empty text means the named tensor itself.
  std::vector<std::string> if_has;
  std::vector<int64_t> shape;
  std::string head;  // the head that owns the tensor, for messages; empty for the encoder
};

struct Parameters {
  std::vector<LinearSpec> linears;      // indexed by LinearId
  std::vector<ConstantSpec> constants;  // indexed by ValueInfo::constant
  std::vector<TableSpec> tables;        // indexed by TableId
  std::vector<ParameterTensor> tensors;
  // Tensor names with these prefixes are errors: they belong to parts that the configuration does not mention, and would be ignored.
  std::vector<std::string> refused;

  const LinearSpec& linear(ParameterId id) const { return linears[static_cast<size_t>(id.number)]; }
  const ConstantSpec& constant(ParameterId id) const { return constants[static_cast<size_t>(id.number)]; }
  const TableSpec& table(ParameterId id) const { return tables[static_cast<size_t>(id.number)]; }
  int64_t rows(ParameterId id) const;
  int64_t cols(ParameterId id) const;
  Placement placement(const ParameterTensor& tensor) const {  // `tensor` must outlive the result
    return {tensor.layout, tensor.shape, cols(tensor.parameter)};
  }
};

}  // namespace peruse

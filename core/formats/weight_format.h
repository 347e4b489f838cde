// The formats of linear layers' weights: what each Precision means, whatever the machine. What a backend does with a
// format (packing, kernels) stands in its folder, one class or row for each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/status.h"
#include "core/formats/linear_spec.h"
#include "core/tensor/dtype.h"

namespace peruse {

// Rows as integers, and the scale of each: row = integers * scale.
struct Int8Rows {
  std::vector<int8_t> integers;
  std::vector<float> scales;
};

class WeightFormat {
 public:
  virtual ~WeightFormat() = default;

  // In a printed program.
  virtual const char* name() const = 0;
  // Whether rows are int8 with a scale each: checkpoints may hold them so, and floats must be encoded.
  virtual bool int8() const { return false; }
  // Turns rows of `width` floats into the stored form. Only where int8().
  virtual void Encode(std::span<const float> rows, int32_t width, Int8Rows* encoded) const;
  // Activations are integers in [-levels, levels] times a scale for each row; 0: they stay floats.
  virtual int32_t InputLevels(const LinearSpec& spec) const;
  // Whether such a layer can be stored so. kUnsupported.
  virtual Status Check(const LinearSpec& spec) const;
  // The type in which an embedding table is stored whose tensor is of type `source`; words: it is that of the words.
  virtual DType TableType(DType source, bool words) const;
};

const WeightFormat& FormatOf(Precision precision);

}  // namespace peruse

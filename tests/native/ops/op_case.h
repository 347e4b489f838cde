// The list of conformance cases that every backend must pass. A case is data, and is turned into a program with one operation. The cases of
// an operation are in the file of its name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ops/activation.h"

namespace peruse::testing {

class CaseProgram;

// How distances map to slots (see ops::Attention).
enum class Slots {
  kExact,      // one slot for each distance
  kClamped,    // DeBERTa v1 with a short span: larger distances than 4 share a slot
  kLogBucket,  // DeBERTa v2 and v3: longer runs of distances share a slot
  kScrambled,  // random; operations allow it, although models do not use it
};

struct OpCase {
  const char* operation;  // first part of the name
  void (*write)(CaseProgram& program, const OpCase& c);
  std::vector<int32_t> lengths;  // of the texts; their sum is the number of rows
  int32_t cols = 0;              // of the input x, query or values
  int32_t out = 0;               // outputs of a linear layer or a convolution
  int32_t groups = 1;
  int32_t heads = 1;
  int32_t kernel = 0;  // taps
  int32_t keys = 0;    // limit of the rows of each text that attention reads; 0 means none
  Activation activation = Activation::kNone;
  bool strided_in = false;   // inputs are column blocks of wider matrices
  bool strided_out = false;  // the output is a column block, too
  bool position_key = false;
  bool position_query = false;
  Slots slots = Slots::kExact;
  bool extra_output = false;  // also request probabilities or kernels
  bool broadcast = false;     // Add: y has one row
  bool half_weights = false;  // half precision can represent all weights of the linear layer or convolution
  bool q8 = false;            // int8 weights of the linear layer or convolution
  bool wide_input = false;    // activations of 13 bits
  float offset = 0;           // added to every value of x: a large mean
  bool by_text = true;        // rows of the first operand belong to tokens, and rows of the result to their texts

  int32_t rows() const;
  int32_t longest() const;
  std::string name() const;  // letters, digits and underscores
};

inline const std::vector<int32_t> kOneRow = {1};
inline const std::vector<int32_t> kRagged = {1, 2, 3, 17};

using Cases = std::vector<OpCase>;
using WriteCase = void (*)(CaseProgram& program, const OpCase& c);

// Adds cases for an operation on two matrices of one shape.
void AddPairCases(const char* operation, WriteCase write, Cases& cases);
// Adds cases for a convolution: columns of wider matrices, and a text that is shorter than the kernel.
void AddKernelCases(const char* operation, WriteCase write, Cases& cases);

void AddInputCases(Cases& cases);
void AddEmbedCases(Cases& cases);
void AddLinearCases(Cases& cases);
void AddLayerNormCases(Cases& cases);
void AddActivateCases(Cases& cases);
void AddAddCases(Cases& cases);
void AddMultiplyCases(Cases& cases);
void AddAttentionCases(Cases& cases);
void AddDepthwiseConvCases(Cases& cases);
void AddSpanConvCases(Cases& cases);
void AddConv1dCases(Cases& cases);
void AddSelectRowsCases(Cases& cases);
void AddMatMulCases(Cases& cases);
void AddLstmCases(Cases& cases);
void AddPoolRowsCases(Cases& cases);
void AddCrossAttentionCases(Cases& cases);
void AddNormalizeCases(Cases& cases);
void AddRotaryCases(Cases& cases);
void AddAlibiBiasCases(Cases& cases);
void AddRmsNormCases(Cases& cases);
void AddExpertsCases(Cases& cases);

Cases AllCases();

}  // namespace peruse::testing

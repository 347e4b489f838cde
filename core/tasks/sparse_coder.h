// Turns a text's vector into a sparse one: the most active of many latent numbers (SparseAutoEncoder of sentence-transformers; CSR, Wen et
// al., 2025).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/status.h"
#include "core/tasks/model_file.h"
#include "core/tasks/sentence_modules.h"

namespace peruse {

class SparseCoder {
 public:
  // Errors: those of ReadModuleWeights.
  static Result<std::unique_ptr<SparseCoder>> Create(const ReadModelFile& read, const SparseCoding& coding);

  // Returns the latents of `vector`: the `most` largest, or those of the folder, if they are positive. All others are 0.
  std::vector<float> Encode(std::vector<float> vector, std::optional<int32_t> most) const;

 private:
  explicit SparseCoder(const SparseCoding& coding) : coding_(coding) {}

  const SparseCoding coding_;
  std::vector<float> pre_bias_;     // [in]
  std::vector<float> weight_;       // [out, in]
  std::vector<float> latent_bias_;  // [out]
};

}  // namespace peruse

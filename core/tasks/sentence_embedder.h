// A folder of the library sentence-transformers at work: from the vectors of a text's tokens to the text's one vector, through
// the pooling, dense layers and normalisation that the folder names.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/families/config.h"
#include "core/tasks/model_file.h"
#include "core/tasks/sentence_modules.h"
#include "core/text/tokenizer.h"

namespace peruse {

class SentenceEmbedder {
 public:
  // `read` gives the files of the folders that `modules` names. `width`: of token vectors. Errors: those of reading weights, and
  // kShapeMismatch of layers that do not fit.
  static Result<std::unique_ptr<SentenceEmbedder>> Create(SentenceModules modules, const ReadModelFile& read,
                                                          int32_t width);

  const SentenceModules& modules() const { return modules_; }

  // A text as the model is to read it.
  struct Reading {
    text::Encoding tokens;
    size_t skip = 0;  // tokens at its start that are not pooled
  };
  // Of `prompt` and `text`, put together and cut to what the folder allows. kInvalidArgument: the prompt leaves no room.
  Result<Reading> Read(const text::Tokenizer& tokenizer, const ModelConfig& config, std::string_view prompt,
                       std::string_view text) const;
  // The text before a text: `prompt`, or the prompt of that name, or the default one, or none. kInvalidArgument names the
  // prompts that there are.
  Result<std::string> Prompt(const std::optional<std::string>& prompt, const std::optional<std::string>& name) const;
  // Of the vectors that Embed gives.
  size_t width() const { return out_; }
  // `tokens`: [count, width]; the first `skip`, fewer than all, are not pooled.
  std::vector<float> Embed(std::span<const float> tokens, size_t skip) const;

 private:
  struct Dense {
    std::vector<float> weight;    // [out, in]
    std::vector<float> bias;      // [out], or empty
    std::vector<float> residual;  // [out, in]; empty if there is none, or if the input itself is added
  };

  explicit SentenceEmbedder(int32_t width) : width_(width) {}
  // In lower case, if the folder says so; special tokens in the text stay as they are, as in a tokenizer that lower-cases.
  std::string Cased(const text::Tokenizer& tokenizer, std::string text) const;
  Status ReadDense(const ReadModelFile& read, const SentenceStep& step);

  const int32_t width_;
  size_t out_ = 0;
  SentenceModules modules_;
  std::vector<Dense> dense_;  // of the steps that are dense, in order
};

}  // namespace peruse

#pragma once

#include <memory>
#include <vector>

#include "core/text/pre_tokenizers/pre_tokenizer.h"
#include "core/text/pre_tokenizers/splitting.h"
#include "core/text/regex/pattern.h"

namespace peruse::text {

class SequencePreTokenizer final : public PreTokenizer {
 public:
  explicit SequencePreTokenizer(std::vector<std::unique_ptr<PreTokenizer>> steps) : steps_(std::move(steps)) {}
  [[nodiscard]] bool PreTokenize(PieceList* list, PieceList* scratch) const override;

 private:
  std::vector<std::unique_ptr<PreTokenizer>> steps_;
};

class SplitPreTokenizer final : public PreTokenizer {
 public:
  SplitPreTokenizer(Pattern pattern, SplitBehavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}
  [[nodiscard]] bool PreTokenize(PieceList* list, PieceList* scratch) const override;

 private:
  Pattern pattern_;
  SplitBehavior behavior_;
  bool invert_;  // the pattern matches words instead of delimiters
};

class PunctuationPreTokenizer final : public PreTokenizer {
 public:
  explicit PunctuationPreTokenizer(SplitBehavior behavior) : behavior_(behavior) {}
  [[nodiscard]] bool PreTokenize(PieceList* list, PieceList* scratch) const override;

 private:
  SplitBehavior behavior_;
};

// Splits into runs of word characters and runs of other characters. Drops white space.
class WhitespacePreTokenizer final : public PreTokenizer {
 public:
  [[nodiscard]] bool PreTokenize(PieceList* list, PieceList* scratch) const override;
};

class WhitespaceSplitPreTokenizer final : public PreTokenizer {
 public:
  [[nodiscard]] bool PreTokenize(PieceList* list, PieceList* scratch) const override;
};

class DigitsPreTokenizer final : public PreTokenizer {
 public:
  explicit DigitsPreTokenizer(bool individual) : individual_(individual) {}
  [[nodiscard]] bool PreTokenize(PieceList* list, PieceList* scratch) const override;

 private:
  bool individual_;
};

}  // namespace peruse::text

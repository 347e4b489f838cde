#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/text/normalizers/normalizer.h"
#include "core/text/regex/pattern.h"

namespace peruse::text {

class SequenceNormalizer final : public Normalizer {
 public:
  explicit SequenceNormalizer(std::vector<std::unique_ptr<Normalizer>> steps) : steps_(std::move(steps)) {}
  [[nodiscard]] bool Normalize(AlignedText* text, AlignedText* scratch) const override;

 private:
  std::vector<std::unique_ptr<Normalizer>> steps_;
};

class StripNormalizer final : public Normalizer {
 public:
  StripNormalizer(bool left, bool right) : left_(left), right_(right) {}
  [[nodiscard]] bool Normalize(AlignedText* text, AlignedText* scratch) const override;

 private:
  bool left_, right_;
};

class StripAccentsNormalizer final : public Normalizer {
 public:
  [[nodiscard]] bool Normalize(AlignedText* text, AlignedText* scratch) const override;
};

// Drops control characters and maps other blanks to the space, like SentencePiece's nmt rules.
class NmtNormalizer final : public Normalizer {
 public:
  [[nodiscard]] bool Normalize(AlignedText* text, AlignedText* scratch) const override;
};

class ReplaceNormalizer final : public Normalizer {
 public:
  ReplaceNormalizer(Pattern pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  [[nodiscard]] bool Normalize(AlignedText* text, AlignedText* scratch) const override;

 private:
  Pattern pattern_;
  std::string content_;
};

class PrependNormalizer final : public Normalizer {
 public:
  explicit PrependNormalizer(std::string prefix) : prefix_(std::move(prefix)) {}
  [[nodiscard]] bool Normalize(AlignedText* text, AlignedText* scratch) const override;

 private:
  std::string prefix_;
};

// Replaces every byte by the printable character that represents it (byte_level.h).
class ByteLevelNormalizer final : public Normalizer {
 public:
  [[nodiscard]] bool Normalize(AlignedText* text, AlignedText* scratch) const override;
};

}  // namespace peruse::text

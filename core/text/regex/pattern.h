// The search pattern of Replace and Split: a string or a regular expression.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/text/regex/regex_matcher.h"
#include "core/text/regex/regex_program.h"

namespace peruse::text {

class Pattern {
 public:
  static Result<Pattern> FromJson(JsonValue json);  // reads {"String": s} or {"Regex": r}
  static Result<Pattern> Literal(std::string_view text);
  static Result<Pattern> Regex(std::string_view expression);

 private:
  friend class PatternMatches;

  std::string literal_;
  std::optional<RegexProgram> program_;  // nullopt for a string
  bool can_be_empty_ = false;            // whether a regular expression may match the empty string
  bool ascii_starts_[128] = {};          // ASCII characters that non-empty matches can start with
};

// The matches of a pattern in a text, from left to right. As in tokenizers, empty matches count unless they directly follow a match.
class PatternMatches {
 public:
  PatternMatches(const Pattern& pattern, std::string_view text);  // the arguments must outlive the object

  bool Next();
  size_t begin() const { return begin_; }
  size_t end() const { return end_; }
  // Errors: kOutOfMemory, kUnsupported if the search takes too long.
  const Status& status() const { return status_; }

 private:
  bool FindLiteral();
  bool FindRegex(size_t from);

  const Pattern& pattern_;
  std::string_view text_;
  std::optional<RegexMatcher> matcher_;
  size_t from_ = 0, begin_ = 0, end_ = 0;
  size_t last_end_ = SIZE_MAX;
  Status status_;
};

}  // namespace peruse::text

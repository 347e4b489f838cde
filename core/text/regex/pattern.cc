#include "core/text/regex/pattern.h"

#include <vector>

#include "core/base/memory.h"
#include "core/base/utf8.h"

namespace peruse::text {
namespace {

// The sets of characters that a match can start with, if all its assertions (such as ^) hold.
struct Starts {
  std::vector<int32_t> sets;
  bool can_be_empty = false;
};

[[nodiscard]] bool FindStarts(const RegexProgram& program, Starts* starts) {
  std::vector<uint32_t> seen;
  std::vector<int32_t> stack;
  const size_t count = program.steps.size();
  if (!TryResize(&seen, count) || !TryReserve(&stack, 2 * count + 1) || !TryReserve(&starts->sets, count)) return false;
  stack.push_back(0);
  while (!stack.empty()) {
    const int32_t index = stack.back();
    stack.pop_back();
    if (seen[static_cast<size_t>(index)] != 0) continue;
    seen[static_cast<size_t>(index)] = 1;
    const RegexStep& step = program.steps[static_cast<size_t>(index)];
    switch (step.kind) {
      case RegexStep::Kind::kSet:
        starts->sets.push_back(step.x);
        break;
      case RegexStep::Kind::kMatch:
        starts->can_be_empty = true;
        break;
      case RegexStep::Kind::kSplit:
        stack.push_back(step.y);
        stack.push_back(step.x);
        break;
      case RegexStep::Kind::kJump:
      case RegexStep::Kind::kAhead:
        stack.push_back(step.x);
        break;
      case RegexStep::Kind::kPlace:
      case RegexStep::Kind::kBehind:
        stack.push_back(index + 1);
        break;
    }
  }
  return true;
}

}  // namespace

Result<Pattern> Pattern::FromJson(JsonValue json) {
  if (const auto text = json.FindMember("String").GetString()) return Literal(*text);
  if (const auto expression = json.FindMember("Regex").GetString()) return Regex(*expression);
  return MalformedFile("tokenizer.json: malformed pattern: " + Excerpt(json.ToString()));
}

Result<Pattern> Pattern::Literal(std::string_view text) {
  // Limits literals: searching for a long one is slow in a text that repeats its beginning.
  constexpr size_t kLongest = 1024;
  if (text.size() > kLongest) return Unsupported("tokenizer.json: a pattern of more than 1024 bytes");
  Pattern pattern;
  PERUSE_ASSIGN_OR_RETURN(pattern.literal_, CopyText(text));
  return pattern;
}

Result<Pattern> Pattern::Regex(std::string_view expression) {
  Pattern pattern;
  PERUSE_ASSIGN_OR_RETURN(pattern.program_, CompileRegex(expression));
  Starts starts;
  if (!FindStarts(*pattern.program_, &starts)) return OutOfMemory("no memory for a regular expression");
  pattern.can_be_empty_ = starts.can_be_empty;
  for (char32_t c = 0; c < 128; ++c) {
    for (const int32_t set : starts.sets)
      pattern.ascii_starts_[c] |= pattern.program_->sets[static_cast<size_t>(set)].Contains(c);
  }
  return pattern;
}

PatternMatches::PatternMatches(const Pattern& pattern, std::string_view text) : pattern_(pattern), text_(text) {
  if (pattern.program_) matcher_.emplace(*pattern.program_, text);
}

bool PatternMatches::FindLiteral() {
  if (pattern_.literal_.empty()) return false;
  begin_ = text_.find(pattern_.literal_, from_);
  if (begin_ == std::string_view::npos) return false;
  from_ = end_ = begin_ + pattern_.literal_.size();
  return true;
}

bool PatternMatches::FindRegex(size_t from) {
  while (from <= text_.size()) {
    const bool is_ascii = from < text_.size() && static_cast<unsigned char>(text_[from]) < 128;
    const bool may_start = from == text_.size() ? pattern_.can_be_empty_
                                                : pattern_.can_be_empty_ || !is_ascii ||
                                                      pattern_.ascii_starts_[static_cast<unsigned char>(text_[from])];
    if (may_start) {
      const Result<size_t> end = matcher_->MatchAt(from);
      if (!end.ok()) {
        status_ = end.status();
        return false;
      }
      if (*end != RegexMatcher::kNone) {
        begin_ = from;
        end_ = *end;
        return true;
      }
    }
    if (from == text_.size()) return false;
    from += static_cast<size_t>(Utf8Length(static_cast<unsigned char>(text_[from])));
  }
  return false;
}

bool PatternMatches::Next() {
  if (!matcher_) return FindLiteral();
  while (from_ <= text_.size() && FindRegex(from_)) {
    if (begin_ != end_ || end_ != last_end_) {
      from_ = last_end_ = end_;
      return true;
    }
    if (from_ == text_.size()) return false;
    from_ += static_cast<size_t>(Utf8Length(static_cast<unsigned char>(text_[from_])));
  }
  return false;
}

}  // namespace peruse::text

#include "core/text/regex/regex_matcher.h"

#include "core/base/memory.h"
#include "core/base/utf8.h"

namespace peruse::text {
namespace {

// Matching is limited to kStepsPerByte steps per byte of text. Expressions of published tokenizers need about twenty.
constexpr uint64_t kStepsPerByte = 200;
constexpr uint64_t kLeastBytes = 4096;

}  // namespace

bool RegexMatcher::Reserve() {
  if (!searches_.empty()) return HasMemory();
  if (!TryResize(&searches_, static_cast<size_t>(program_.depth) + 1)) return false;
  const size_t count = program_.steps.size();
  for (Search& search : searches_) {
    // Bounds of the lists: a step is in a list at most once, and on the stack at most twice, once for each step that leads to it.
    if (!TryReserve(&search.now, count) || !TryReserve(&search.next, count) ||
        !TryReserve(&search.stack, 2 * count + 1) || !TryResize(&search.seen, count)) {
      return false;
    }
  }
  return true;
}

Result<size_t> RegexMatcher::MatchAt(size_t begin) {
  if (!program_.is_run && !Reserve()) return OutOfMemory("no memory to run a regular expression");
  const size_t end = program_.is_run ? RunOfSet(begin) : Run(0, begin, 0);
  if (is_too_long_) return Unsupported("a regular expression of tokenizer.json takes too long on this text");
  return end;
}

size_t RegexMatcher::RunOfSet(size_t begin) {
  uint32_t count = 0;
  size_t at = begin;
  for (size_t after = at; count < program_.most && at < text_.size(); at = after, ++count) {
    if (!program_.sets[0].Contains(DecodeUtf8(text_, &after))) break;
  }
  steps_ += count + 1;
  is_too_long_ = steps_ > Limit();
  return count < program_.least ? kNone : at;
}

uint64_t RegexMatcher::Limit() const { return kStepsPerByte * (text_.size() + kLeastBytes); }

bool RegexMatcher::IsAt(RegexPlace place, size_t at) const {
  const auto is_word = [this](size_t position, bool before) {
    if (position == (before ? 0 : text_.size())) return false;
    return IsRegexWord(before ? DecodeUtf8Backwards(text_, &position) : DecodeUtf8(text_, &position));
  };
  switch (place) {
    case RegexPlace::kLineBegin:
      return at == 0 || (text_[at - 1] == '\n' && at < text_.size());
    case RegexPlace::kLineEnd:
      return at == text_.size() || text_[at] == '\n';
    case RegexPlace::kTextBegin:
      return at == 0;
    case RegexPlace::kTextEnd:
      return at == text_.size();
    case RegexPlace::kBeforeLastLine:
      return at == text_.size() || (at + 1 == text_.size() && text_[at] == '\n');
    case RegexPlace::kWordBoundary:
      return is_word(at, true) != is_word(at, false);
    case RegexPlace::kNoWordBoundary:
      return is_word(at, true) == is_word(at, false);
  }
  return false;
}

void RegexMatcher::AddThread(int32_t start, size_t at, int32_t depth, std::vector<int32_t>* list) {
  Search& search = searches_[static_cast<size_t>(depth)];
  search.stack.clear();
  search.stack.push_back(start);
  while (!search.stack.empty()) {
    const int32_t index = search.stack.back();
    search.stack.pop_back();
    uint32_t& seen = search.seen[static_cast<size_t>(index)];
    if (seen == search.round) continue;
    seen = search.round;
    ++steps_;
    const RegexStep& step = program_.steps[static_cast<size_t>(index)];
    switch (step.kind) {
      case RegexStep::Kind::kSet:
      case RegexStep::Kind::kMatch:
        list->push_back(index);
        break;
      case RegexStep::Kind::kSplit:
        search.stack.push_back(step.y);
        search.stack.push_back(step.x);
        break;
      case RegexStep::Kind::kJump:
        search.stack.push_back(step.x);
        break;
      case RegexStep::Kind::kPlace:
        if (IsAt(static_cast<RegexPlace>(step.x), at)) search.stack.push_back(index + 1);
        break;
      case RegexStep::Kind::kAhead:
        if ((Run(index + 1, at, depth + 1) != kNone) != step.negated) search.stack.push_back(step.x);
        break;
      case RegexStep::Kind::kBehind: {
        size_t before = at;
        const CharSet& set = program_.sets[static_cast<size_t>(step.x)];
        const bool stands = at > 0 && set.Contains(DecodeUtf8Backwards(text_, &before));
        if (stands != step.negated) search.stack.push_back(index + 1);
        break;
      }
    }
  }
}

size_t RegexMatcher::Run(int32_t start, size_t begin, int32_t depth) {
  Search& search = searches_[static_cast<size_t>(depth)];
  size_t found = kNone;
  search.now.clear();
  ++search.round;
  AddThread(start, begin, depth, &search.now);
  for (size_t at = begin; !search.now.empty() && !is_too_long_;) {
    size_t after = at;
    const bool has_char = at < text_.size();
    const char32_t c = has_char ? DecodeUtf8(text_, &after) : 0;
    search.next.clear();
    ++search.round;
    for (const int32_t index : search.now) {
      const RegexStep& step = program_.steps[static_cast<size_t>(index)];
      ++steps_;
      if (step.kind == RegexStep::Kind::kMatch) {
        found = at;  // threads after this one have lower priority
        break;
      }
      if (has_char && program_.sets[static_cast<size_t>(step.x)].Contains(c))
        AddThread(index + 1, after, depth, &search.next);
    }
    is_too_long_ = is_too_long_ || steps_ > Limit();
    std::swap(search.now, search.next);
    at = after;
  }
  return found;
}

}  // namespace peruse::text

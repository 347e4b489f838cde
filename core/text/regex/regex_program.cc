#include "core/text/regex/regex_program.h"

#include <algorithm>
#include <memory>
#include <string>

#include "core/base/memory.h"
#include "core/base/sort.h"
#include "core/base/utf8.h"
#include "core/text/regex/regex_parser.h"
#include "core/text/unicode/unicode.h"

namespace peruse::text {
namespace {

constexpr size_t kMaxSteps = 4000;

bool IsWord(char32_t c) { return (CharClasses(c) & kWordClass) != 0 && c != 0x200C && c != 0x200D; }

bool HasItem(const CharSet::Item& item, char32_t c) {
  switch (item.kind) {
    case CharSet::Kind::kRange:
      return c >= item.first && c <= item.last;
    case CharSet::Kind::kCategories:
      return (item.categories >> CategoryOf(c) & 1) != 0;
    case CharSet::Kind::kSpace:
      return IsSpace(c);
    case CharSet::Kind::kHex:
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    case CharSet::Kind::kWord:
      return IsWord(c);
    case CharSet::Kind::kWordOutside:
      return IsRegexWord(c);
  }
  return false;
}

class Compiler {
 public:
  explicit Compiler(RegexProgram* program) : program_(*program) {}

  // Returns false if the program has too many steps or memory runs out.
  [[nodiscard]] bool Compile(const RegexNode& node) { return Emit(node) && Add({RegexStep::Kind::kMatch}); }

 private:
  using Kind = RegexNode::Kind;

  int32_t next() const { return static_cast<int32_t>(program_.steps.size()); }
  RegexStep& step(int32_t at) { return program_.steps[static_cast<size_t>(at)]; }
  [[nodiscard]] bool Add(RegexStep step) {
    return program_.steps.size() < kMaxSteps && TryPushBack(&program_.steps, step);
  }

  [[nodiscard]] bool Emit(const RegexNode& node) {
    switch (node.kind) {
      case Kind::kSet:
        return Add({RegexStep::Kind::kSet, false, node.set});
      case Kind::kSequence:
        return std::all_of(node.children.begin(), node.children.end(),
                           [this](const auto& child) { return Emit(*child); });
      case Kind::kAlternatives:
        return EmitAlternatives(node);
      case Kind::kRepeat:
        return EmitRepeat(node);
      case Kind::kPlace:
        return Add({RegexStep::Kind::kPlace, false, static_cast<int32_t>(node.place)});
      case Kind::kBehind:
        return Add({RegexStep::Kind::kBehind, node.negated, node.set});
      case Kind::kAhead:
        return EmitAhead(node);
    }
    return false;
  }

  // Emits for a|b: split a, rest; a; jump end; rest: b.
  [[nodiscard]] bool EmitAlternatives(const RegexNode& node) {
    std::vector<int32_t> jumps;
    for (size_t i = 0; i < node.children.size(); ++i) {
      const bool is_last = i + 1 == node.children.size();
      const int32_t split = next();
      if (!is_last && !Add({RegexStep::Kind::kSplit, false, split + 1})) return false;
      if (!Emit(*node.children[i])) return false;
      if (is_last) break;
      if (!TryPushBack(&jumps, next()) || !Add({RegexStep::Kind::kJump})) return false;
      step(split).y = next();
    }
    for (const int32_t jump : jumps) step(jump).x = next();
    return true;
  }

  [[nodiscard]] bool AddSplit(bool lazy, int32_t inside, int32_t after) {
    return Add({RegexStep::Kind::kSplit, false, lazy ? after : inside, lazy ? inside : after});
  }
  void SetAfter(int32_t split, bool lazy, int32_t after) { (lazy ? step(split).x : step(split).y) = after; }

  [[nodiscard]] bool EmitRepeat(const RegexNode& node) {
    const RegexNode& inside = *node.children[0];
    for (uint32_t i = 0; i < node.least; ++i) {
      const int32_t before = next();
      if (!Emit(inside)) return false;
      if (next() == before) return true;  // the node is empty, so repetition changes nothing
    }
    if (node.most == RegexNode::kUnlimited) {
      const int32_t split = next();
      if (!AddSplit(node.lazy, split + 1, 0) || !Emit(inside) || !Add({RegexStep::Kind::kJump, false, split}))
        return false;
      SetAfter(split, node.lazy, next());
      return true;
    }
    std::vector<int32_t> splits;
    for (uint32_t i = node.least; i < node.most; ++i) {
      if (!TryPushBack(&splits, next()) || !AddSplit(node.lazy, next() + 1, 0) || !Emit(inside)) return false;
    }
    for (const int32_t split : splits) SetAfter(split, node.lazy, next());
    return true;
  }

  [[nodiscard]] bool EmitAhead(const RegexNode& node) {
    const int32_t ahead = next();
    ++depth_;
    program_.depth = std::max(program_.depth, depth_);
    if (!Add({RegexStep::Kind::kAhead, node.negated}) || !Emit(*node.children[0]) || !Add({RegexStep::Kind::kMatch})) {
      return false;
    }
    --depth_;
    step(ahead).x = next();
    return true;
  }

  RegexProgram& program_;
  int32_t depth_ = 0;
};

void FindRun(const RegexNode& tree, RegexProgram* program) {
  const RegexNode* node = &tree;
  while (node->kind == RegexNode::Kind::kSequence && node->children.size() == 1) node = node->children[0].get();
  if (node->kind == RegexNode::Kind::kRepeat && !node->lazy) {
    program->least = node->least;
    program->most = node->most;
    node = node->children[0].get();
  }
  program->is_run = node->kind == RegexNode::Kind::kSet;
}

}  // namespace

// Oniguruma's \w outside brackets also matches superscript digits and vulgar fractions.
bool IsRegexWord(char32_t c) { return IsWord(c) || c == 0xB2 || c == 0xB3 || c == 0xB9 || (c >= 0xBC && c <= 0xBE); }

bool CharSet::Sort() {
  constexpr std::ptrdiff_t kMostOthers = 64;
  const auto is_range = [](const Item& item) { return item.kind == Kind::kRange && !item.negated; };
  const auto others = std::partition(items.begin(), items.end(), is_range);
  if (items.end() - others > kMostOthers) return false;
  HeapSort(items.begin(), others, [](const Item& a, const Item& b) { return a.first < b.first; });
  auto last = items.begin();
  for (auto next = items.begin(); next != others; ++next) {
    if (next == last) continue;
    if (next->first <= last->last || next->first == last->last + 1) {
      last->last = std::max(last->last, next->last);
    } else {
      *++last = *next;
    }
  }
  if (others != items.begin()) items.erase(last + 1, others);
  ranges = others == items.begin() ? 0 : static_cast<size_t>(last - items.begin()) + 1;
  return true;
}

bool CharSet::Contains(char32_t c) const {
  const auto end = items.begin() + static_cast<std::ptrdiff_t>(ranges);
  const auto after =
      std::upper_bound(items.begin(), end, c, [](char32_t wanted, const Item& item) { return wanted < item.first; });
  if (after != items.begin() && c <= (after - 1)->last) return !negated;
  for (auto item = end; item != items.end(); ++item) {
    if (HasItem(*item, c) != item->negated) return !negated;
  }
  return negated;
}

Result<RegexProgram> CompileRegex(std::string_view expression) {
  RegexProgram program;
  const std::unique_ptr<RegexNode> tree = RegexParser::Parse(expression, &program.sets);
  if (tree != nullptr && Compiler(&program).Compile(*tree)) {
    FindRun(*tree, &program);
    return program;
  }
  if (!HasMemory()) return OutOfMemory("no memory for a regular expression");
  return Unsupported("tokenizer.json: the regular expression \"" + Excerpt(expression) + "\" is not supported");
}

}  // namespace peruse::text

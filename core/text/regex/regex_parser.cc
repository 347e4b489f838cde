#include "core/text/regex/regex_parser.h"

#include "core/base/memory.h"
#include "core/base/utf8.h"
#include "core/text/unicode/unicode.h"

namespace peruse::text {
namespace {

constexpr int kMaxDepth = 32;
constexpr uint32_t kMaxRepeat = 1000;
constexpr char32_t kLastCodePoint = 0x10FFFF;

using Item = CharSet::Item;

Item RangeItem(char32_t first, char32_t last) { return {CharSet::Kind::kRange, false, first, last, 0}; }

bool IsAsciiLetter(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool AddChild(RegexNode* parent, std::unique_ptr<RegexNode> child) {
  return child != nullptr && TryPushBack(&parent->children, std::move(child));
}

}  // namespace

std::unique_ptr<RegexNode> RegexParser::Parse(std::string_view expression, std::vector<CharSet>* sets) {
  RegexParser parser(expression, sets);
  Node node = parser.ParseAlternatives(0);
  return parser.AtEnd() ? std::move(node) : nullptr;
}

bool RegexParser::Take(char c) {
  if (AtEnd() || text_[position_] != c) return false;
  ++position_;
  return true;
}

bool RegexParser::Take(std::string_view prefix) {
  if (!text_.substr(position_).starts_with(prefix)) return false;
  position_ += prefix.size();
  return true;
}

RegexParser::Node RegexParser::ParseAlternatives(int depth) {
  if (depth > kMaxDepth) return nullptr;
  auto node = std::make_unique<RegexNode>();
  node->kind = RegexNode::Kind::kAlternatives;
  do {
    previous_letter_ = 0;
    if (!AddChild(node.get(), ParseSequence(depth))) return nullptr;
  } while (Take('|'));
  return node->children.size() == 1 ? std::move(node->children[0]) : std::move(node);
}

RegexParser::Node RegexParser::ParseSequence(int depth) {
  auto node = std::make_unique<RegexNode>();
  while (!AtEnd() && text_[position_] != '|' && text_[position_] != ')') {
    Node atom = ParseAtom(depth);
    if (atom == nullptr || !AddChild(node.get(), ParseQuantifier(std::move(atom)))) return nullptr;
  }
  return node;
}

RegexParser::Node RegexParser::ParseAtom(int depth) {
  if (Take('(')) return ParseGroup(depth);
  if (Take('\\')) return ParseEscape();
  if (Take('^')) return MakePlace(RegexPlace::kLineBegin);
  if (Take('$')) return MakePlace(RegexPlace::kLineEnd);
  CharSet set;
  if (Take('[')) {
    previous_letter_ = 0;
    return ParseBrackets(&set) ? MakeSet(std::move(set)) : nullptr;
  }
  if (Take('.')) {
    previous_letter_ = 0;
    set.negated = true;
    return TryPushBack(&set.items, RangeItem('\n', '\n')) ? MakeSet(std::move(set)) : nullptr;
  }
  static constexpr std::string_view kQuantifiers = "*+?";
  if (kQuantifiers.find(text_[position_]) != std::string_view::npos) return nullptr;
  const size_t begin = position_;
  uint32_t least, most;
  if (text_[begin] == '{' && ParseInterval(&least, &most)) return nullptr;
  position_ = begin;
  const char32_t c = DecodeUtf8(text_, &position_);
  if (IsFoldedPair(previous_letter_, c)) return nullptr;
  previous_letter_ = c;
  if (!AddCases(RangeItem(c, c), &set)) return nullptr;
  return MakeSet(std::move(set));
}

RegexParser::Node RegexParser::ParseGroup(int depth) {
  previous_letter_ = 0;
  if (!Take('?')) return ParseInside(depth, RegexNode::Kind::kSequence, false);
  if (Take(':')) return ParseInside(depth, RegexNode::Kind::kSequence, false);
  if (Take('=')) return ParseInside(depth, RegexNode::Kind::kAhead, false);
  if (Take('!')) return ParseInside(depth, RegexNode::Kind::kAhead, true);
  if (Take("<=")) return ParseInside(depth, RegexNode::Kind::kBehind, false);
  if (Take("<!")) return ParseInside(depth, RegexNode::Kind::kBehind, true);
  const bool before = ignores_case_;
  if (Take("i:")) {
    ignores_case_ = true;
    Node node = ParseInside(depth, RegexNode::Kind::kSequence, false);
    ignores_case_ = before;
    return node;
  }
  return nullptr;
}

RegexParser::Node RegexParser::ParseInside(int depth, RegexNode::Kind kind, bool negated) {
  Node inside = ParseAlternatives(depth + 1);
  previous_letter_ = 0;
  if (inside == nullptr || !Take(')')) return nullptr;
  if (kind == RegexNode::Kind::kSequence) return inside;
  auto node = std::make_unique<RegexNode>();
  node->kind = kind;
  node->negated = negated;
  if (kind == RegexNode::Kind::kBehind) {
    if (inside->kind == RegexNode::Kind::kSequence && inside->children.size() == 1) {
      inside = std::move(inside->children[0]);
    }
    if (inside->kind != RegexNode::Kind::kSet) return nullptr;
    node->set = inside->set;
    return node;
  }
  return AddChild(node.get(), std::move(inside)) ? std::move(node) : nullptr;
}

RegexParser::Node RegexParser::ParseEscape() {
  if (AtEnd()) return nullptr;
  if (Take('A')) return MakePlace(RegexPlace::kTextBegin);
  if (Take('z')) return MakePlace(RegexPlace::kTextEnd);
  if (Take('Z')) return MakePlace(RegexPlace::kBeforeLastLine);
  if (Take('b')) return MakePlace(RegexPlace::kWordBoundary);
  if (Take('B')) return MakePlace(RegexPlace::kNoWordBoundary);
  Item item;
  if (!ParseEscapedItem(false, &item)) return nullptr;
  const bool is_letter = item.kind == CharSet::Kind::kRange;
  if (is_letter && IsFoldedPair(previous_letter_, item.first)) return nullptr;
  previous_letter_ = is_letter ? item.first : 0;
  CharSet set;
  return AddCases(item, &set) ? MakeSet(std::move(set)) : nullptr;
}

RegexParser::Node RegexParser::ParseQuantifier(Node atom) {
  uint32_t least = 1, most = 1;
  const size_t begin = position_;
  bool is_interval = false;
  if (Take('*')) {
    least = 0;
    most = RegexNode::kUnlimited;
  } else if (Take('+')) {
    most = RegexNode::kUnlimited;
  } else if (Take('?')) {
    least = 0;
  } else if (!AtEnd() && text_[position_] == '{' && ParseInterval(&least, &most)) {
    is_interval = true;
    if (least > kMaxRepeat || (most > kMaxRepeat && most != RegexNode::kUnlimited) || least > most) return nullptr;
  } else {
    position_ = begin;
    return atom;
  }
  previous_letter_ = 0;
  auto node = std::make_unique<RegexNode>();
  node->kind = RegexNode::Kind::kRepeat;
  node->least = least;
  node->most = most;
  node->lazy = (!is_interval || least != most) && Take('?');
  // Possessive quantifiers and quantified quantifiers are not supported.
  if (!AtEnd() && (text_[position_] == '+' || text_[position_] == '*' || text_[position_] == '?')) return nullptr;
  const size_t next = position_;
  if (!AtEnd() && text_[position_] == '{' && ParseInterval(&least, &most)) return nullptr;
  position_ = next;
  return AddChild(node.get(), std::move(atom)) ? std::move(node) : nullptr;
}

// Parses {n}, {n,}, {n,m} or {,m}. Any other brace is a literal.
bool RegexParser::ParseInterval(uint32_t* least, uint32_t* most) {
  *least = 0;
  if (!Take('{')) return false;
  const bool has_least = ParseNumber(least);
  *most = *least;
  if (!Take(',')) return has_least && Take('}');
  *most = RegexNode::kUnlimited;
  const bool has_most = ParseNumber(most);
  return (has_least || has_most) && Take('}');
}

bool RegexParser::ParseNumber(uint32_t* number) {
  const size_t start = position_;
  uint32_t value = 0;
  for (; !AtEnd() && text_[position_] >= '0' && text_[position_] <= '9'; ++position_) {
    if (value <= kMaxRepeat) value = value * 10 + static_cast<uint32_t>(text_[position_] - '0');
  }
  if (position_ > start) *number = value;
  return position_ > start;
}

bool RegexParser::ParseHex(size_t digits, char32_t* c) {
  *c = 0;
  for (size_t i = 0; i < digits; ++i, ++position_) {
    if (AtEnd()) return false;
    const char d = text_[position_];
    const int value = d >= '0' && d <= '9'                     ? d - '0'
                      : (d | 0x20) >= 'a' && (d | 0x20) <= 'f' ? (d | 0x20) - 'a' + 10
                                                               : -1;
    if (value < 0) return false;
    *c = *c * 16 + static_cast<char32_t>(value);
  }
  return *c <= kLastCodePoint && (*c < 0xD800 || *c > 0xDFFF);
}

bool RegexParser::ParseProperty(bool negated, Item* item) {
  if (!Take('{')) return false;
  item->negated = Take('^') != negated;
  const size_t end = text_.find('}', position_);
  if (end == std::string_view::npos) return false;
  item->kind = CharSet::Kind::kCategories;
  item->categories = CategoriesNamed(text_.substr(position_, end - position_));
  position_ = end + 1;
  return item->categories != 0;
}

bool RegexParser::ParseEscapedItem(bool in_brackets, Item* item) {
  if (AtEnd()) return false;
  const char32_t c = DecodeUtf8(text_, &position_);
  const auto one = [item](char32_t what) {
    *item = RangeItem(what, what);
    return true;
  };
  switch (c) {
    case 'd':
    case 'D':
      *item = {CharSet::Kind::kCategories, c == 'D', 0, 0, CategoriesNamed("Nd")};
      return true;
    case 's':
    case 'S':
      *item = {CharSet::Kind::kSpace, c == 'S', 0, 0, 0};
      return true;
    case 'h':
    case 'H':
      *item = {CharSet::Kind::kHex, c == 'H', 0, 0, 0};
      return true;
    case 'w':
    case 'W':
      *item = {in_brackets ? CharSet::Kind::kWord : CharSet::Kind::kWordOutside, c == 'W', 0, 0, 0};
      return true;
    case 'p':
    case 'P':
      return ParseProperty(c == 'P', item);
    case 'n':
      return one('\n');
    case 'r':
      return one('\r');
    case 't':
      return one('\t');
    case 'f':
      return one('\f');
    case 'v':
      return one('\v');
    case 'x':
    case 'u': {
      char32_t code = 0;
      if (!ParseHex(c == 'x' ? 2 : 4, &code) || (c == 'x' && code > 0x7F)) return false;
      return one(code);
    }
    default:
      // Other letters and digits after a backslash have special meanings, which are not supported.
      if (IsAsciiLetter(c) || (c >= '0' && c <= '9')) return false;
      return one(c);
  }
}

bool RegexParser::ParseBracketItem(Item* item) {
  if (AtEnd()) return false;
  if (Take('\\')) return ParseEscapedItem(true, item);
  // Nested classes and intersections are not supported.
  if (text_[position_] == '[' || Take("&&")) return false;
  const char32_t c = DecodeUtf8(text_, &position_);
  *item = RangeItem(c, c);
  return true;
}

bool RegexParser::ParseBrackets(CharSet* set) {
  set->negated = Take('^');
  for (bool is_first = true; is_first || !Take(']'); is_first = false) {
    Item item;
    if (!ParseBracketItem(&item)) return false;
    const bool has_range = text_.substr(position_).starts_with('-') && !text_.substr(position_).starts_with("-]");
    if (has_range) {
      ++position_;
      Item last;
      if (item.kind != CharSet::Kind::kRange || !ParseBracketItem(&last) || last.kind != CharSet::Kind::kRange ||
          last.first < item.first) {
        return false;
      }
      item.last = last.first;
    }
    if (!AddCases(item, set)) return false;
  }
  return true;
}

RegexParser::Node RegexParser::MakeSet(CharSet set) {
  auto node = std::make_unique<RegexNode>();
  node->kind = RegexNode::Kind::kSet;
  node->set = static_cast<int32_t>(sets_.size());
  if (!set.Sort()) return nullptr;
  return TryPushBack(&sets_, std::move(set)) ? std::move(node) : nullptr;
}

RegexParser::Node RegexParser::MakePlace(RegexPlace place) {
  previous_letter_ = 0;
  auto node = std::make_unique<RegexNode>();
  node->kind = RegexNode::Kind::kPlace;
  node->place = place;
  return node;
}

bool RegexParser::AddCases(const Item& item, CharSet* set) {
  if (!TryPushBack(&set->items, item)) return false;
  if (!ignores_case_) return true;
  if (item.kind != CharSet::Kind::kRange) return item.kind != CharSet::Kind::kCategories;
  for (char32_t c = item.first; c <= item.last; ++c) {
    if (c >= 0x80) {
      // Beyond ASCII, accepts only a single letter of category Lo, which does not have another case. Rejects ranges.
      return item.first == item.last && (CategoriesNamed("L") >> CategoryOf(c) & 1) != 0 && CategoryOf(c) == 4;
    }
    if (!IsAsciiLetter(c)) continue;
    const char32_t other = c ^ 0x20;
    if (!TryPushBack(&set->items, RangeItem(other, other))) return false;
    // The long s folds to s, and the Kelvin sign to k.
    const char32_t third = (c | 0x20) == 's' ? 0x17F : (c | 0x20) == 'k' ? 0x212A : 0;
    if (third != 0 && !TryPushBack(&set->items, RangeItem(third, third))) return false;
  }
  return true;
}

bool RegexParser::IsFoldedPair(char32_t previous, char32_t c) const {
  if (!ignores_case_) return false;
  const char32_t a = previous | 0x20, b = c | 0x20;
  return (a == 's' && (b == 's' || b == 't')) || (a == 'f' && (b == 'f' || b == 'i' || b == 'l'));
}

}  // namespace peruse::text

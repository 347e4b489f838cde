#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/text/regex/regex_program.h"

namespace peruse::text {

struct RegexNode {
  enum class Kind : uint8_t { kSet, kSequence, kAlternatives, kRepeat, kPlace, kAhead, kBehind };
  static constexpr uint32_t kUnlimited = UINT32_MAX;

  Kind kind = Kind::kSequence;  // kSequence without children matches the empty string
  bool negated = false;         // for kAhead and kBehind
  bool lazy = false;            // for kRepeat: prefer fewer repetitions
  int32_t set = 0;              // for kSet and kBehind: index of the set
  RegexPlace place = RegexPlace::kLineBegin;
  uint32_t least = 0, most = 0;  // for kRepeat: bounds of the number of repetitions
  std::vector<std::unique_ptr<RegexNode>> children;
};

class RegexParser {
 public:
  // Parses a regular expression into a tree. Returns nullptr if it is not supported or memory runs out.
  static std::unique_ptr<RegexNode> Parse(std::string_view expression, std::vector<CharSet>* sets);

 private:
  using Node = std::unique_ptr<RegexNode>;

  RegexParser(std::string_view text, std::vector<CharSet>* sets) : text_(text), sets_(*sets) {}

  bool AtEnd() const { return position_ == text_.size(); }
  bool Take(char c);
  bool Take(std::string_view prefix);
  Node ParseAlternatives(int depth);
  Node ParseSequence(int depth);
  Node ParseAtom(int depth);
  Node ParseGroup(int depth);
  Node ParseInside(int depth, RegexNode::Kind kind, bool negated);
  Node ParseEscape();
  Node ParseQuantifier(Node atom);
  bool ParseInterval(uint32_t* least, uint32_t* most);
  bool ParseNumber(uint32_t* number);
  bool ParseHex(size_t digits, char32_t* c);
  bool ParseEscapedItem(bool in_brackets, CharSet::Item* item);
  bool ParseProperty(bool negated, CharSet::Item* item);
  bool ParseBrackets(CharSet* set);
  bool ParseBracketItem(CharSet::Item* item);

  Node MakeSet(CharSet set);
  Node MakePlace(RegexPlace place);
  // Adds the letters of `item` in the other case. Returns false for letters without a simple case mapping.
  bool AddCases(const CharSet::Item& item, CharSet* set);
  // Whether two adjacent letters together equal one character when case is ignored, as "ss" does U+00DF and "fi" a ligature.
  bool IsFoldedPair(char32_t previous, char32_t c) const;

  std::string_view text_;
  std::vector<CharSet>& sets_;
  size_t position_ = 0;
  bool ignores_case_ = false;
  char32_t previous_letter_ = 0;  // the preceding literal, for IsFoldedPair
};

}  // namespace peruse::text

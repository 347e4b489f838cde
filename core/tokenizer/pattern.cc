#include "core/tokenizer/pattern.h"

#include <optional>

#include "core/base/utf8.h"
#include "core/tokenizer/unicode.h"

namespace peruse {
namespace {

constexpr uint32_t kUnlimited = UINT32_MAX;

}  // namespace

// Recursive descent over the small grammar; any other syntax makes Parse fail.
class Pattern::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  bool Parse(std::vector<Alternative>* alternatives) {
    do {
      Alternative alternative;
      if (!ParseAtom(&alternative) || !ParseQuantifier(&alternative)) return false;
      alternatives->push_back(std::move(alternative));
    } while (Take('|'));
    return AtEnd();
  }

 private:
  bool AtEnd() const { return position_ == text_.size(); }
  bool Take(char c) {
    if (AtEnd() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  // After a backslash.
  bool ParseEscape(Item* item) {
    if (AtEnd()) return false;
    const char c = text_[position_++];
    static constexpr std::string_view kPunctuation = R"(\.+*?()|[]{}^$/-"'#&~ )";
    *item = {0, 0, 0};
    switch (c) {
      case 's':
        item->classes = kSpaceClass;
        return true;
      case 'n':
        item->first = item->last = '\n';
        return true;
      case 'r':
        item->first = item->last = '\r';
        return true;
      case 't':
        item->first = item->last = '\t';
        return true;
      default:
        item->first = item->last = static_cast<unsigned char>(c);
        return kPunctuation.find(c) != std::string_view::npos;
    }
  }

  bool ParseClassItem(Item* item) {
    if (AtEnd()) return false;
    if (Take('\\')) return ParseEscape(item);
    if (text_[position_] == '[' || text_[position_] == '&') return false;  // nested classes and their operators
    item->first = DecodeUtf8(text_, &position_);
    item->last = item->first;
    item->classes = 0;
    return true;
  }

  bool ParseClass(Alternative* alternative) {
    alternative->negated = Take('^');
    while (!Take(']')) {
      Item item;
      if (!ParseClassItem(&item)) return false;
      if (Take('-')) {
        Item last;
        if (!ParseClassItem(&last) || item.classes != 0 || last.classes != 0 || last.first < item.first) return false;
        item.last = last.first;
      }
      alternative->items.push_back(item);
    }
    return !alternative->items.empty();
  }

  bool ParseAtom(Alternative* alternative) {
    if (AtEnd()) return false;
    if (Take('[')) return ParseClass(alternative);
    Item item;
    if (Take('\\')) {
      if (!ParseEscape(&item)) return false;
    } else {
      static constexpr std::string_view kSpecial = ".+*?()|]{}^$";
      if (kSpecial.find(text_[position_]) != std::string_view::npos) return false;
      item.first = item.last = DecodeUtf8(text_, &position_);
      item.classes = 0;
    }
    alternative->items.push_back(item);
    return true;
  }

  bool ParseNumber(uint32_t* number) {
    const size_t start = position_;
    *number = 0;
    while (!AtEnd() && text_[position_] >= '0' && text_[position_] <= '9') {
      if (*number > 100000) return false;
      *number = *number * 10 + static_cast<uint32_t>(text_[position_++] - '0');
    }
    return position_ > start;
  }

  bool ParseQuantifier(Alternative* alternative) {
    if (Take('+')) {
      alternative->most = kUnlimited;
    } else if (Take('{')) {
      if (!ParseNumber(&alternative->least) || alternative->least == 0) return false;
      alternative->most = alternative->least;
      if (Take(',')) {
        alternative->most = kUnlimited;
        if (!AtEnd() && text_[position_] != '}' && !ParseNumber(&alternative->most)) return false;
      }
      if (!Take('}') || alternative->most < alternative->least) return false;
    }
    return AtEnd() || text_[position_] == '|';
  }

  std::string_view text_;
  size_t position_ = 0;
};

Result<Pattern> Pattern::FromJson(JsonValue json) {
  if (const auto text = json.FindMember("String").GetString()) return Literal(*text);
  if (const auto expression = json.FindMember("Regex").GetString()) return Regex(*expression);
  return MalformedFile("tokenizer.json: malformed pattern: " + json.ToString().substr(0, 200));
}

Pattern Pattern::Literal(std::string_view text) {
  Pattern pattern;
  pattern.literal_ = std::string(text);
  return pattern;
}

Result<Pattern> Pattern::Regex(std::string_view expression) {
  Pattern pattern;
  if (!Parser(expression).Parse(&pattern.alternatives_)) {
    return Unsupported("tokenizer.json: the regular expression \"" + std::string(expression.substr(0, 200)) +
                       "\" is not supported");
  }
  for (char32_t c = 0; c < 128; ++c) {
    for (const Alternative& alternative : pattern.alternatives_) pattern.ascii_starts_[c] |= Matches(alternative, c);
  }
  return pattern;
}

bool Pattern::Matches(const Alternative& alternative, char32_t c) {
  for (const Item& item : alternative.items) {
    const bool found = item.classes != 0 ? (CharClasses(c) & item.classes) != 0 : c >= item.first && c <= item.last;
    if (found) return !alternative.negated;
  }
  return alternative.negated;
}

size_t Pattern::MatchAt(std::string_view text, size_t at) const {
  for (const Alternative& alternative : alternatives_) {
    size_t end = at;
    uint32_t count = 0;
    while (end < text.size() && count < alternative.most) {
      size_t next = end;
      if (!Matches(alternative, DecodeUtf8(text, &next))) break;
      end = next;
      ++count;
    }
    if (count >= alternative.least) return end;
  }
  return at;
}

bool Pattern::Find(std::string_view text, size_t from, size_t* begin, size_t* end) const {
  if (alternatives_.empty()) {
    const size_t found = literal_.empty() ? std::string_view::npos : text.find(literal_, from);
    *begin = found;
    *end = found + literal_.size();
    return found != std::string_view::npos;
  }
  while (from < text.size()) {
    const auto byte = static_cast<unsigned char>(text[from]);
    if (byte < 128 && !ascii_starts_[byte]) {
      ++from;
      continue;
    }
    *begin = from;
    *end = MatchAt(text, from);
    if (*end > from) return true;
    DecodeUtf8(text, &from);
  }
  return false;
}

}  // namespace peruse

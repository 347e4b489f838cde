#include "core/tokenizer/added_tokens.h"

#include <algorithm>
#include <map>

#include "core/tokenizer/unicode.h"

namespace peruse {
namespace {

// Appends text whose bytes all stand for themselves, at `shift` in the original. False when there is no memory.
[[nodiscard]] bool AppendIdentity(std::string_view text, size_t shift, AlignedText* out) {
  if (!out->TryReserve(out->size() + text.size())) return false;
  const size_t base = out->size();
  out->text.append(text);
  out->origins.resize(out->text.size());
  Offset* origins = out->origins.data() + base;
  if (IsAscii(text)) {
    const auto first = static_cast<int32_t>(shift), count = static_cast<int32_t>(text.size());
    for (int32_t i = 0; i < count; ++i) origins[i] = {first + i, first + i + 1};
    return true;
  }
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = begin + static_cast<size_t>(Utf8Length(static_cast<unsigned char>(text[begin])));
    const Offset origin = {static_cast<int32_t>(shift + begin), static_cast<int32_t>(shift + end)};
    for (; begin < end; ++begin) origins[begin] = origin;
  }
  return true;
}

// Where the white space that ends at `end` begins.
size_t SpaceBefore(std::string_view text, size_t end) {
  while (end > 0) {
    size_t start = end;
    if (!IsSpace(DecodeUtf8Backwards(text, &start))) break;
    end = start;
  }
  return end;
}

size_t SpaceAfter(std::string_view text, size_t begin) {
  while (begin < text.size()) {
    size_t end = begin;
    if (!IsSpace(DecodeUtf8(text, &end))) break;
    begin = end;
  }
  return begin;
}

}  // namespace

Result<AddedTokens> AddedTokens::Create(const std::vector<AddedToken>& tokens, const Vocabulary& vocabulary,
                                        const Normalizer* normalizer) {
  AddedTokens added;
  // Later tokens of equal content share the id of the first and replace its flags.
  int32_t next_id = vocabulary.size();
  std::map<std::string_view, size_t> known;
  for (const AddedToken& token : tokens) {
    if (token.content.empty()) continue;
    const auto [position, is_new] = known.insert({token.content, added.entries_.size()});
    if (!is_new) {
      added.entries_[position->second].token = token;
      continue;
    }
    const int32_t id = vocabulary.Find(token.content);
    added.entries_.push_back({id == Trie::kNone ? next_id++ : id, token});
  }
  std::stable_sort(added.entries_.begin(), added.entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.id < b.id; });

  std::vector<std::pair<std::string_view, int32_t>> raw, normalized, ids;
  std::vector<std::string> contents(added.entries_.size());
  AlignedText text, scratch;
  for (size_t i = 0; i < added.entries_.size(); ++i) {
    const AddedToken& token = added.entries_[i].token;
    ids.push_back({token.content, added.entries_[i].id});
    if (!token.normalized || normalizer == nullptr) {
      (token.normalized ? normalized : raw).push_back({token.content, static_cast<int32_t>(i)});
      continue;
    }
    text.Clear();
    if (!AppendIdentity(token.content, 0, &text)) return OutOfMemory("no memory for the added tokens");
    if (!normalizer->Normalize(&text, &scratch)) return OutOfMemory("no memory to normalise the added tokens");
    if (text.text.empty()) {
      return Unsupported("added token \"" + token.content + "\": nothing is left of it after normalisation");
    }
    contents[i] = text.text;
    normalized.push_back({contents[i], static_cast<int32_t>(i)});
  }
  PERUSE_ASSIGN_OR_RETURN(added.raw_, MakeMatcher(raw));
  PERUSE_ASSIGN_OR_RETURN(added.normalized_, MakeMatcher(normalized));
  PERUSE_ASSIGN_OR_RETURN(added.ids_, Trie::Create(ids));
  return added;
}

Result<AddedTokens::Matcher> AddedTokens::MakeMatcher(
    const std::vector<std::pair<std::string_view, int32_t>>& patterns) {
  Matcher matcher;
  PERUSE_ASSIGN_OR_RETURN(matcher.trie, Trie::Create(patterns));
  for (const auto& [pattern, entry] : patterns) matcher.starts[static_cast<unsigned char>(pattern[0])] = true;
  matcher.empty = patterns.empty();
  return matcher;
}

bool AddedTokens::StandsAlone(std::string_view text, size_t begin, size_t end) const {
  if (begin > 0 && (CharClasses(DecodeUtf8Backwards(text, &begin)) & kWordClass)) return false;
  return end == text.size() || !(CharClasses(DecodeUtf8(text, &end)) & kWordClass);
}

// Leftmost-longest, not overlapping. As in the reference, a rejected match is skipped as a whole, and white space that
// a match swallows to its right may overlap the next match.
bool AddedTokens::FindMatches(std::string_view text, const Matcher& matcher, std::vector<Match>* matches) const {
  matches->clear();
  size_t covered = 0;
  for (size_t i = 0; !matcher.empty && i < text.size();) {
    if (!matcher.starts[static_cast<unsigned char>(text[i])]) {
      ++i;
      continue;
    }
    int32_t state = Trie::kRoot, found = Trie::kNone;
    size_t end = i;
    for (size_t j = i; j < text.size();) {
      state = matcher.trie.Next(state, text[j++]);
      if (state == Trie::kNone) break;
      if (matcher.trie.Value(state) != Trie::kNone) {
        found = matcher.trie.Value(state);
        end = j;
      }
    }
    if (found == Trie::kNone) {
      ++i;
      continue;
    }
    const AddedToken& token = entries_[static_cast<size_t>(found)].token;
    size_t start = i;
    i = end;
    if (token.single_word && !StandsAlone(text, start, end)) continue;
    if (token.lstrip) start = std::max(SpaceBefore(text, start), covered);
    if (token.rstrip) end = SpaceAfter(text, end);
    if (covered < start && !TryPushBack(matches, {covered, start, -1})) return false;
    if (!TryPushBack(matches, {start, end, found})) return false;
    covered = end;
  }
  return covered == text.size() || TryPushBack(matches, {covered, text.size(), -1});
}

bool AddedTokens::NormalizeInto(std::string_view text, size_t begin, size_t end, const Normalizer* normalizer,
                                PieceList* list) const {
  AlignedText piece, scratch;
  if (!AppendIdentity(text.substr(begin, end - begin), begin, &piece)) return false;
  if (normalizer != nullptr && !normalizer->Normalize(&piece, &scratch)) return false;
  const size_t base = list->text.size();
  if (base == 0) {
    std::swap(list->text, piece);
  } else {
    if (!list->text.TryReserve(base + piece.size())) return false;
    list->text.Append(piece, 0, piece.size());
  }
  const std::string_view normalized = std::string_view(list->text.text).substr(base);
  if (normalized_.empty) {
    list->Add(base, list->text.size());
    return true;
  }
  std::vector<Match> matches;
  if (!FindMatches(normalized, normalized_, &matches) || !list->HasMemoryFor(matches.size())) return false;
  for (const Match& match : matches) {
    list->Add(base + match.begin, base + match.end,
              match.entry < 0 ? -1 : entries_[static_cast<size_t>(match.entry)].id);
  }
  return true;
}

bool AddedTokens::Extract(std::string_view text, const Normalizer* normalizer, PieceList* list) const {
  list->Clear();
  std::vector<Match> matches;
  if (!FindMatches(text, raw_, &matches) || !list->HasMemoryFor(matches.size())) return false;
  for (const Match& match : matches) {
    if (match.entry < 0) {
      if (!NormalizeInto(text, match.begin, match.end, normalizer, list)) return false;
      continue;
    }
    const size_t base = list->text.size();
    if (!AppendIdentity(text.substr(match.begin, match.end - match.begin), match.begin, &list->text)) return false;
    list->Add(base, list->text.size(), entries_[static_cast<size_t>(match.entry)].id);
  }
  return true;
}

const AddedToken* AddedTokens::Token(int32_t id) const {
  const auto entry = std::lower_bound(entries_.begin(), entries_.end(), id,
                                      [](const Entry& candidate, int32_t wanted) { return candidate.id < wanted; });
  return entry != entries_.end() && entry->id == id ? &entry->token : nullptr;
}

int32_t AddedTokens::id_limit() const { return entries_.empty() ? 0 : entries_.back().id + 1; }

}  // namespace peruse

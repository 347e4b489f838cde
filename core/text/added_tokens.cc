#include "core/text/added_tokens.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

#include "core/base/sort.h"
#include "core/text/unicode/unicode.h"

namespace peruse::text {
namespace {

// Matching is limited to kStepsPerByte steps per byte of text; shorter texts than kLeastBytes get the limit of that length. Without it,
// tokens that often begin in a text and rarely end would take long.
constexpr size_t kStepsPerByte = 128, kLeastBytes = 4096;

Status NoMemory() { return OutOfMemory("no memory for the added tokens"); }

[[nodiscard]] bool AppendIdentity(std::string_view text, size_t shift, AlignedText* out) {
  const size_t base = out->size();
  if (!out->Extend(text.size())) return false;
  std::copy(text.begin(), text.end(), out->text.begin() + static_cast<std::ptrdiff_t>(base));
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

// Returns the start of the white space that ends at `end`, but at least `least`.
size_t SpaceBefore(std::string_view text, size_t end, size_t least) {
  while (end > least) {
    size_t start = end;
    if (!IsSpace(DecodeUtf8Backwards(text, &start))) break;
    end = start;
  }
  return std::max(end, least);
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

// Collects the patterns to search for, in tokenizers' order: first special tokens, each in the form (raw or normalised) in which it was
// first added; then other tokens, in every form in which they were added. If a token was added several times, the flags of the last
// addition count.
Status AddedTokens::AddEntries(std::vector<AddedToken> tokens, size_t listed, const Vocabulary& vocabulary,
                               std::vector<Pattern>* patterns) {
  int32_t next_id = vocabulary.size();
  std::map<std::string_view, size_t> known;  // content -> index in entries_
  std::vector<size_t> last;                  // for each entry: index in `tokens` of its last addition
  std::vector<Pattern> special, others;
  const auto add_special = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const AddedToken& token = tokens[i];
      if (token.content.empty()) continue;
      const auto [position, is_new] = known.insert({token.content, entries_.size()});
      const size_t entry = position->second;
      if (is_new) {
        const int32_t id = vocabulary.Find(token.content);
        if (!TryPushBack(&entries_, {id == Trie::kNone ? next_id++ : id, {}, false}) || !TryPushBack(&last, i))
          return false;
      }
      if (!token.special || entries_[entry].was_special) continue;
      entries_[entry].was_special = true;
      if (!TryPushBack(&special, {entry, token.normalized})) return false;
    }
    return true;
  };
  const auto add = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      if (tokens[i].content.empty()) continue;
      const size_t entry = known.find(tokens[i].content)->second;
      last[entry] = i;
      if (!entries_[entry].was_special && !TryPushBack(&others, {entry, tokens[i].normalized})) return false;
    }
    return true;
  };
  if (!add_special(0, listed) || !add(0, listed) || !add_special(listed, tokens.size()) ||
      !add(listed, tokens.size()) || !TryReserve(patterns, special.size() + others.size())) {
    return NoMemory();
  }
  for (size_t i = 0; i < listed; ++i) {
    const auto entry = known.find(tokens[i].content);
    if (entry != known.end()) listed_id_limit_ = std::max(listed_id_limit_, entries_[entry->second].id + 1);
  }
  for (size_t i = 0; i < entries_.size(); ++i) entries_[i].token = std::move(tokens[last[i]]);
  patterns->insert(patterns->end(), special.begin(), special.end());
  patterns->insert(patterns->end(), others.begin(), others.end());
  return OkStatus();
}

Result<AddedTokens> AddedTokens::Create(std::vector<AddedToken> listed, std::vector<AddedToken> more,
                                        const Vocabulary& vocabulary, const Normalizer* normalizer) {
  AddedTokens added;
  const size_t listed_count = listed.size();
  if (!TryGrow(&listed, more.size())) return NoMemory();
  std::move(more.begin(), more.end(), std::back_inserter(listed));
  std::vector<Pattern> patterns;
  PERUSE_RETURN_IF_ERROR(added.AddEntries(std::move(listed), listed_count, vocabulary, &patterns));

  std::vector<std::pair<std::string_view, int32_t>> raw, normalized, ids;
  std::vector<std::string> contents;
  if (!TryReserve(&raw, patterns.size()) || !TryReserve(&normalized, patterns.size()) ||
      !TryReserve(&ids, added.entries_.size()) || !TryResize(&contents, patterns.size())) {
    return NoMemory();
  }
  AlignedText text, scratch;
  // The trie keeps the last of several equal patterns, but the first must count, so they are added in reverse order.
  for (size_t i = patterns.size(); i-- > 0;) {
    const auto entry = static_cast<int32_t>(patterns[i].entry);
    const std::string_view content = added.entries_[patterns[i].entry].token.content;
    if (!patterns[i].normalized || normalizer == nullptr) {
      (patterns[i].normalized ? normalized : raw).push_back({content, entry});
      continue;
    }
    text.Clear();
    if (!AppendIdentity(content, 0, &text) || !normalizer->Normalize(&text, &scratch)) return text.Failure();
    if (!TryAssign(&contents[i], text.text)) return NoMemory();
    normalized.push_back({contents[i], entry});
  }
  if (!TryReserve(&added.by_id_, added.entries_.size())) return NoMemory();
  for (const Entry& entry : added.entries_) {
    added.by_id_.push_back({entry.id, static_cast<int32_t>(ids.size())});
    ids.push_back({entry.token.content, entry.id});
  }
  HeapSort(added.by_id_.begin(), added.by_id_.end(), std::less());
  PERUSE_ASSIGN_OR_RETURN(added.raw_, MakeMatcher(raw));
  PERUSE_ASSIGN_OR_RETURN(added.normalized_, MakeMatcher(normalized));
  PERUSE_ASSIGN_OR_RETURN(added.ids_, Trie::Create(ids));
  return added;
}

Result<AddedTokens::Matcher> AddedTokens::MakeMatcher(
    const std::vector<std::pair<std::string_view, int32_t>>& patterns) {
  Matcher matcher;
  PERUSE_ASSIGN_OR_RETURN(matcher.trie, Trie::Create(patterns));
  for (const auto& [pattern, entry] : patterns) {
    if (pattern.empty())
      matcher.has_nothing = true;
    else
      matcher.starts[static_cast<unsigned char>(pattern[0])] = true;
  }
  if (matcher.has_nothing) std::fill(std::begin(matcher.starts), std::end(matcher.starts), true);
  matcher.is_empty = patterns.empty();
  return matcher;
}

bool AddedTokens::StandsAlone(std::string_view text, size_t begin, size_t end) const {
  if (begin > 0 && (CharClasses(DecodeUtf8Backwards(text, &begin)) & kWordClass)) return false;
  return end == text.size() || !(CharClasses(DecodeUtf8(text, &end)) & kWordClass);
}

int32_t AddedTokens::LongestAt(std::string_view text, size_t begin, const Matcher& matcher, size_t* end,
                               size_t* steps) const {
  int32_t state = Trie::kRoot, found = matcher.has_nothing ? matcher.trie.Value(Trie::kRoot) : Trie::kNone;
  *end = begin;
  for (size_t j = begin; j < text.size();) {
    state = matcher.trie.Next(state, text[j++]);
    ++*steps;
    if (state == Trie::kNone) break;
    if (matcher.trie.Value(state) == Trie::kNone) continue;
    found = matcher.trie.Value(state);
    *end = j;
  }
  return found;
}

// Finds leftmost-longest, non-overlapping matches. As in tokenizers, a rejected match is skipped as a whole, white space to the right of a
// match may overlap the next match, and a token that normalises to nothing matches before every byte except at the end of another match.
Status AddedTokens::FindMatches(std::string_view text, const Matcher& matcher, std::vector<Match>* matches) const {
  matches->clear();
  size_t covered = 0, last_end = SIZE_MAX, steps = 0;
  const size_t limit_steps = kStepsPerByte * (text.size() + kLeastBytes);
  const size_t limit = text.size() + (matcher.has_nothing && !text.empty() ? 1 : 0);
  for (size_t i = 0; !matcher.is_empty && i < limit;) {
    if (i < text.size() && !matcher.starts[static_cast<unsigned char>(text[i])]) {
      ++i;
      continue;
    }
    size_t end = i;
    const int32_t found = LongestAt(text, i, matcher, &end, &steps);
    if (steps > limit_steps)
      return Unsupported("tokenizer.json: added_tokens: they take too long to find in this text");
    if (found == Trie::kNone || (end == i && i == last_end)) {
      ++i;
      continue;
    }
    const Entry& entry = entries_[static_cast<size_t>(found)];
    const AddedToken& token = entry.token;
    size_t start = i;
    i = last_end = end;
    if (splits_special_ && entry.was_special) continue;
    if (start < text.size() && IsUtf8Continuation(text[start])) {
      return Unsupported("nothing is left of the added token \"" + Excerpt(token.content) +
                         "\" after normalisation: then only ASCII text can be read");
    }
    if (token.single_word && !StandsAlone(text, start, end)) continue;
    if (token.lstrip) start = SpaceBefore(text, start, covered);
    if (token.rstrip) end = SpaceAfter(text, end);
    steps += end - i;  // the white space, which may belong to many matches
    if (covered < start && !TryPushBack(matches, {covered, start, -1})) return NoMemory();
    if (!TryPushBack(matches, {start, end, found})) return NoMemory();
    covered = end;
  }
  return covered == text.size() || TryPushBack(matches, {covered, text.size(), -1}) ? OkStatus() : NoMemory();
}

Status AddedTokens::NormalizeInto(std::string_view text, size_t begin, size_t end, const Normalizer* normalizer,
                                  PieceList* list) const {
  AlignedText piece, scratch;
  piece.limit = scratch.limit = list->text.limit - std::min(list->text.limit, list->text.size());
  if (!AppendIdentity(text.substr(begin, end - begin), begin, &piece)) return piece.Failure();
  if (normalizer != nullptr && !normalizer->Normalize(&piece, &scratch)) return piece.Failure();
  piece.limit = list->text.limit;
  const size_t base = list->text.size();
  if (base == 0) {
    std::swap(list->text, piece);
  } else {
    list->text.Append(piece, 0, piece.size());
    if (list->text.failed()) return list->text.Failure();
  }
  const std::string_view normalized = std::string_view(list->text.text).substr(base);
  if (normalized_.is_empty) {
    list->Add(base, list->text.size());
    return OkStatus();
  }
  std::vector<Match> matches;
  PERUSE_RETURN_IF_ERROR(FindMatches(normalized, normalized_, &matches));
  for (const Match& match : matches) {
    list->Add(base + match.begin, base + match.end,
              match.entry < 0 ? -1 : entries_[static_cast<size_t>(match.entry)].id);
  }
  return OkStatus();
}

Status AddedTokens::Extract(std::string_view text, const Normalizer* normalizer, PieceList* list) const {
  list->Clear();
  std::vector<Match> matches;
  PERUSE_RETURN_IF_ERROR(FindMatches(text, raw_, &matches));
  for (const Match& match : matches) {
    if (match.entry < 0) {
      PERUSE_RETURN_IF_ERROR(NormalizeInto(text, match.begin, match.end, normalizer, list));
      continue;
    }
    const size_t base = list->text.size();
    if (!AppendIdentity(text.substr(match.begin, match.end - match.begin), match.begin, &list->text))
      return list->text.Failure();
    list->Add(base, list->text.size(), entries_[static_cast<size_t>(match.entry)].id);
  }
  return list->text.failure;
}

const AddedTokens::Entry* AddedTokens::FindEntry(int32_t id) const {
  const auto position = std::lower_bound(by_id_.begin(), by_id_.end(), std::pair<int32_t, int32_t>(id, 0));
  return position != by_id_.end() && position->first == id ? &entries_[static_cast<size_t>(position->second)] : nullptr;
}

const AddedToken* AddedTokens::Token(int32_t id) const {
  const Entry* entry = FindEntry(id);
  return entry != nullptr ? &entry->token : nullptr;
}

bool AddedTokens::IsSpecial(int32_t id) const {
  const Entry* entry = FindEntry(id);
  return entry != nullptr && entry->was_special;
}

int32_t AddedTokens::id_limit() const { return by_id_.empty() ? 0 : by_id_.back().first + 1; }

}  // namespace peruse::text

#include "core/text/normalizers/precompiled.h"

#include "core/text/unicode/unicode.h"

namespace peruse::text {
namespace {

// Fields of a unit of SentencePiece's double-array trie (Darts library).
bool HasLeaf(uint32_t unit) { return (unit >> 8) & 1; }
uint32_t Value(uint32_t unit) { return unit & 0x7FFFFFFF; }
uint32_t Label(uint32_t unit) { return unit & 0x800000FF; }
uint32_t UnitOffset(uint32_t unit) { return (unit >> 10) << ((unit & 0x200) >> 6); }

uint32_t ReadLittleEndian(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return value;
}

struct Change {
  char32_t c;
  int change;
};

[[nodiscard]] bool AddReplacement(size_t old_count, std::string_view replacement, std::vector<Change>* changes) {
  size_t new_count = 0;
  for (size_t position = 0; position < replacement.size(); ++new_count) {
    if (!TryPushBack(changes, {DecodeUtf8(replacement, &position), 0})) return false;
  }
  if (new_count > old_count) {
    for (size_t i = 0; i < new_count - old_count; ++i) (*changes)[changes->size() - 1 - i].change = 1;
  } else if (new_count < old_count && !changes->empty()) {
    changes->back().change -= static_cast<int>(old_count - new_count);
  }
  return true;
}

constexpr size_t kMaxCluster = 6;  // bytes; longer grapheme clusters are mapped character by character

}  // namespace

Result<std::string> DecodeBase64(std::string_view text) {
  std::string bytes;
  while (text.ends_with('=') && text.size() % 4 != 1) text.remove_suffix(1);
  if (!TryReserve(&bytes, text.size() / 4 * 3 + 3)) return OutOfMemory("no memory for a precompiled_charsmap");
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    int value;
    if (c >= 'A' && c <= 'Z')
      value = c - 'A';
    else if (c >= 'a' && c <= 'z')
      value = c - 'a' + 26;
    else if (c >= '0' && c <= '9')
      value = c - '0' + 52;
    else if (c == '+')
      value = 62;
    else if (c == '/')
      value = 63;
    else
      return MalformedFile("tokenizer.json: precompiled_charsmap is not base64");
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push_back(static_cast<char>(bits >> count));
    }
  }
  return bytes;
}

Result<std::unique_ptr<PrecompiledNormalizer>> PrecompiledNormalizer::Create(std::string_view charsmap) {
  const auto bad = [](const char* what) { return MalformedFile(std::string("precompiled_charsmap: ") + what); };
  if (charsmap.size() < 4) return bad("shorter than its header");
  const size_t trie_bytes = ReadLittleEndian(charsmap, 0);
  if (trie_bytes % 4 != 0 || trie_bytes == 0 || trie_bytes > charsmap.size() - 4) return bad("wrong trie size");
  std::unique_ptr<PrecompiledNormalizer> normalizer(new PrecompiledNormalizer);
  if (!TryAssign(&normalizer->strings_, charsmap.substr(4 + trie_bytes)) ||
      !TryResize(&normalizer->units_, trie_bytes / 4)) {
    return OutOfMemory("no memory for a precompiled_charsmap");
  }
  if (!IsValidUtf8(normalizer->strings_)) return bad("replacements are not UTF-8");
  for (size_t i = 0; i < normalizer->units_.size(); ++i) {
    normalizer->units_[i] = ReadLittleEndian(charsmap, 4 + 4 * i);
  }
  for (size_t c = 1; c < 128; ++c) {
    const char byte = static_cast<char>(c);
    std::string_view replacement;
    normalizer->ascii_changes_[c] = normalizer->Transform({&byte, 1}, &replacement);
  }
  return normalizer;
}

bool PrecompiledNormalizer::Transform(std::string_view chunk, std::string_view* replacement) const {
  size_t node = UnitOffset(units_[0]);
  for (const char byte : chunk) {
    const auto c = static_cast<unsigned char>(byte);
    if (c == 0) return false;
    node ^= c;
    if (node >= units_.size() || Label(units_[node]) != c) return false;
    const uint32_t unit = units_[node];
    node ^= UnitOffset(unit);
    if (!HasLeaf(unit)) continue;
    if (node >= units_.size()) return false;
    const size_t start = Value(units_[node]);
    if (start >= strings_.size() || IsUtf8Continuation(strings_[start])) return false;
    const size_t end = strings_.find('\0', start);
    *replacement = std::string_view(strings_).substr(start, end == std::string::npos ? end : end - start);
    return true;
  }
  return false;
}

bool PrecompiledNormalizer::Normalize(AlignedText* text, AlignedText* scratch) const {
  const std::string_view view = text->text;
  std::vector<Change> changes;  // changes from the start on; empty until the first replacement
  bool modified = false;
  std::string_view replacement;
  const auto start_changes = [&](size_t end) {
    if (modified) return true;
    modified = true;
    if (!TryReserve(&changes, CountCodePoints(view))) return false;
    for (size_t position = 0; position < end;) changes.push_back({DecodeUtf8(view, &position), 0});
    return true;
  };
  for (size_t begin = 0; begin < view.size();) {
    // Finds the end of the grapheme cluster. Fast path: an ASCII character before another ASCII character is a cluster.
    size_t end = begin;
    char32_t last = DecodeUtf8(view, &end);
    size_t count = 1;
    if (last < 0x80 && last != '\r' && (end == view.size() || static_cast<unsigned char>(view[end]) < 0x80)) {
      if (!ascii_changes_[last]) {
        if (modified && !TryPushBack(&changes, {last, 0})) return false;
        begin = end;
        continue;
      }
    }
    int32_t state = 0;
    while (end < view.size()) {
      size_t after = end;
      const char32_t next = DecodeUtf8(view, &after);
      if (IsGraphemeBreak(last, next, &state)) break;
      last = next;
      end = after;
      ++count;
    }
    if (end - begin < kMaxCluster && Transform(view.substr(begin, end - begin), &replacement)) {
      if (!start_changes(begin) || !AddReplacement(count, replacement, &changes)) return false;
      begin = end;
      continue;
    }
    while (begin < end) {
      const size_t start = begin;
      const char32_t c = DecodeUtf8(view, &begin);
      if (Transform(view.substr(start, begin - start), &replacement)) {
        if (!start_changes(start) || !AddReplacement(1, replacement, &changes)) return false;
      } else if (modified && !TryPushBack(&changes, {c, 0})) {
        return false;
      }
    }
  }
  if (!modified) return true;
  return ApplyChanges(changes, text, scratch);
}

}  // namespace peruse::text

// A text during normalisation. Each byte records the range of original bytes that it came from. All edits combine three primitives of
// tokenizers' NormalizedString::transform (insert, replace, remove), which determine the offsets of every token.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/memory.h"
#include "core/base/utf8.h"
#include "core/text/encoding.h"

namespace peruse::text {

struct AlignedText {
  std::string text;             // valid UTF-8
  std::vector<Offset> origins;  // per byte of `text`: its range in the original
  Status failure;               // why an append failed; the contents are then invalid
  size_t limit = SIZE_MAX;      // maximum length in bytes

  size_t size() const { return text.size(); }
  std::string_view view(size_t begin, size_t end) const { return std::string_view(text).substr(begin, end - begin); }
  void Clear() {
    text.clear();
    origins.clear();
    failure = OkStatus();
  }
  bool failed() const { return !failure.ok(); }
  bool Fail(Status why) {
    failure = std::move(why);
    return false;
  }
  bool FailForMemory() { return Fail(NoMemory()); }
  // Returns why a function that changes the text returned false.
  Status Failure() const { return failed() ? failure : NoMemory(); }
  static Status NoMemory() { return OutOfMemory("no memory to read a text"); }

  void Append(char32_t c, Offset origin) {
    constexpr size_t kLongest = 4;
    if (!Grow(kLongest)) return;
    if (c < 0x80) {
      text.push_back(static_cast<char>(c));
      origins.push_back(origin);
      return;
    }
    const size_t before = text.size();
    AppendUtf8(c, &text);
    origins.insert(origins.end(), text.size() - before, origin);
  }
  [[nodiscard]] bool Extend(size_t bytes) {
    if (!Grow(bytes)) return false;
    text.resize(text.size() + bytes);
    origins.resize(text.size());
    return true;
  }
  void Truncate(size_t bytes) {
    text.resize(bytes);
    origins.resize(bytes);
  }
  // Reserves memory for `bytes` more bytes, or marks the text as failed. Append also reserves; reserving the total beforehand avoids
  // copies.
  bool Grow(size_t bytes) {
    if (failed()) return false;
    if (bytes <= origins.capacity() - origins.size()) return true;
    if (bytes > limit - std::min(limit, origins.size())) {
      return Fail(Unsupported("tokenizer.json: the text grows too much when it is normalised and split"));
    }
    // Grows the text first: the check above only reads the capacity of `origins`.
    return (TryGrow(&text, bytes) && TryGrow(&origins, bytes)) || FailForMemory();
  }
  void Append(const AlignedText& other, size_t begin, size_t end) {
    if (!Grow(end - begin)) return;
    text.append(other.text, begin, end - begin);
    origins.insert(origins.end(), other.origins.begin() + static_cast<std::ptrdiff_t>(begin),
                   other.origins.begin() + static_cast<std::ptrdiff_t>(end));
  }
};

// Copies the bytes [begin, end) of one text to the end of another, with changes. Its cursor moves over the old text.
class AlignedEditor {
 public:
  AlignedEditor(const AlignedText& from, size_t begin, size_t end, AlignedText* to)
      : from_(from), begin_(begin), cursor_(begin), end_(end), to_(to) {}

  size_t cursor() const { return cursor_; }

  void Replace(char32_t c) {
    to_->Append(c, CurrentOrigin());
    Drop(1);
  }
  // Inserts `c` before the cursor. Its origin is that of the preceding old byte.
  void Insert(char32_t c) { to_->Append(c, PreviousOrigin()); }
  void ReplaceAndDrop(char32_t c, size_t count) {
    Replace(c);
    Drop(count);
  }
  // One step of tokenizers' transform: change 1 inserts, 0 replaces, -n replaces and drops n characters.
  void Apply(char32_t c, int change) {
    if (change > 0) return Insert(c);
    ReplaceAndDrop(c, static_cast<size_t>(-change));
  }
  void Drop(size_t count) {
    for (; count > 0 && cursor_ < end_; --count) {
      cursor_ += static_cast<size_t>(Utf8Length(static_cast<unsigned char>(from_.text[cursor_])));
    }
  }
  void CopyTo(size_t position) {
    to_->Append(from_, cursor_, position);
    cursor_ = position;
  }

 private:
  Offset PreviousOrigin() const {
    if (cursor_ > begin_) return from_.origins[cursor_ - 1];
    const int32_t start = begin_ < end_ ? from_.origins[begin_].start : 0;
    return {start, start};
  }
  // Returns the last origin past the end of the old text, which only a list of changes that consumes too many characters reaches.
  Offset CurrentOrigin() const { return cursor_ < end_ ? from_.origins[cursor_] : PreviousOrigin(); }

  const AlignedText& from_;
  size_t begin_;
  size_t cursor_;
  size_t end_;
  AlignedText* to_;
};

// Rewrites the whole text. Each change has a new character `c` and a `change` (AlignedEditor::Apply). `scratch` is a buffer. Returns false
// if memory runs out or the text exceeds its limit.
template <typename Change>
[[nodiscard]] bool ApplyChanges(const std::vector<Change>& changes, AlignedText* text, AlignedText* scratch) {
  size_t bytes = 0;
  for (const Change& change : changes) bytes += static_cast<size_t>(Utf8LengthOf(change.c));
  scratch->Clear();
  scratch->Grow(bytes);
  AlignedEditor editor(*text, 0, text->size(), scratch);
  for (const Change& change : changes) editor.Apply(change.c, change.change);
  std::swap(*text, *scratch);
  return !text->failed();
}

}  // namespace peruse::text

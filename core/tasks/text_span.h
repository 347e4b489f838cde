#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/utf8.h"
#include "core/text/encoding.h"

namespace peruse {

// A range of UTF-16 indices: text.slice(start, end) in JavaScript.
struct TextSpan {
  int64_t start;
  int64_t end;
};

inline TextSpan ToTextSpan(Utf8IndexConverter& index, text::Offset bytes) {
  const auto start = static_cast<int64_t>(index.ToUtf16(static_cast<size_t>(bytes.start)));
  return {start, static_cast<int64_t>(index.ToUtf16(static_cast<size_t>(bytes.end)))};
}

inline std::string_view Slice(std::string_view text, text::Offset bytes) {
  return text.substr(static_cast<size_t>(bytes.start), static_cast<size_t>(bytes.end - bytes.start));
}

}  // namespace peruse

// Spans of a text as results give them: UTF-16 indices, so that text.slice(start, end) is the span in JavaScript.
#pragma once

#include <cstdint>

#include "core/base/json_writer.h"
#include "core/base/utf8.h"
#include "core/tokenizer/encoding.h"

namespace peruse {

// Writes the members "start" and "end" of `bytes`, a range of the text that `index` converts for.
inline void WriteSpan(JsonWriter& writer, Utf8IndexConverter& index, Offset bytes) {
  writer.Key("start");
  writer.Int(static_cast<int64_t>(index.ToUtf16(static_cast<size_t>(bytes.start))));
  writer.Key("end");
  writer.Int(static_cast<int64_t>(index.ToUtf16(static_cast<size_t>(bytes.end))));
}

}  // namespace peruse

#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "core/api/session.h"

namespace peruse {

// Words a0, a1, ... for all ids of the tiny vocabularies.
inline std::string Vocabulary() {
  std::string vocab = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (int i = 0; i < 43; ++i) vocab += "a" + std::to_string(i) + "\n";
  return vocab;
}

inline std::string Describe(const Status& status) {
  return std::string(StatusCodeName(status.code())) + ": " + status.message();
}

// Returns all parts of the results, or "code: message".
inline std::string ToEnd(Session& session, const Status& started) {
  if (!started.ok()) return Describe(started);
  std::string parts;
  for (bool more = true; more;) {
    const Result<bool> step = session.Step();
    if (!step.ok()) return Describe(step.status());
    const Result<std::string> taken = session.Take();
    if (!taken.ok()) return Describe(taken.status());
    parts += *taken;
    more = *step;
  }
  return parts;
}

// Returns the results of the last step; earlier steps may have returned nothing.
inline std::string LastParts(const std::string& result) {
  return result.substr(std::min(result.rfind("[{\"input"), result.size()));
}

inline std::string RunToEnd(Session& session, std::string_view request) {
  return ToEnd(session, session.Start(request));
}

}  // namespace peruse

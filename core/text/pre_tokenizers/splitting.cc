#include "core/text/pre_tokenizers/splitting.h"

namespace peruse::text {
namespace {

void AddContiguous(const std::vector<Segment>& segments, PieceList* list) {
  for (size_t i = 0; i < segments.size();) {
    size_t last = i;
    while (last + 1 < segments.size() && segments[last + 1].is_match == segments[i].is_match) ++last;
    list->Add(segments[i].begin, segments[last].end);
    i = last + 1;
  }
}

// Joins a delimiter to the preceding text. A delimiter after a delimiter is a piece of its own.
void AddMergedWithPrevious(const std::vector<Segment>& segments, PieceList* list) {
  for (size_t i = 0; i < segments.size(); ++i) {
    const bool joined = !segments[i].is_match && i + 1 < segments.size() && segments[i + 1].is_match;
    list->Add(segments[i].begin, joined ? segments[i + 1].end : segments[i].end);
    if (joined) ++i;
  }
}

// Joins a delimiter to the following text. A delimiter before a delimiter is a piece of its own.
void AddMergedWithNext(const std::vector<Segment>& segments, PieceList* list) {
  for (size_t i = 0; i < segments.size(); ++i) {
    const bool joined = segments[i].is_match && i + 1 < segments.size() && !segments[i + 1].is_match;
    list->Add(segments[i].begin, joined ? segments[i + 1].end : segments[i].end);
    if (joined) ++i;
  }
}

}  // namespace

void AddSegments(const std::vector<Segment>& segments, SplitBehavior behavior, PieceList* list) {
  switch (behavior) {
    case SplitBehavior::kRemoved:
      for (const Segment& segment : segments) {
        if (!segment.is_match) list->Add(segment.begin, segment.end);
      }
      return;
    case SplitBehavior::kIsolated:
      for (const Segment& segment : segments) list->Add(segment.begin, segment.end);
      return;
    case SplitBehavior::kMergedWithPrevious:
      return AddMergedWithPrevious(segments, list);
    case SplitBehavior::kMergedWithNext:
      return AddMergedWithNext(segments, list);
    case SplitBehavior::kContiguous:
      return AddContiguous(segments, list);
  }
}

}  // namespace peruse::text

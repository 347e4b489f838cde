#include "core/text/models/trie.h"

#include <algorithm>

#include "core/base/memory.h"
#include "core/base/sort.h"

namespace peruse::text {

const Trie::Unit Trie::kEmpty[256] = {};

using Entries = std::vector<std::pair<std::string_view, int32_t>>;

// Places nodes depth first. The free units of the array form a circular list, whose links are stored in the units themselves.
class TrieBuilder {
 public:
  TrieBuilder(const Entries& entries, std::vector<Trie::Unit>* units) : entries_(entries), units_(*units) {}

  [[nodiscard]] bool Build() {
    units_.clear();
    if (!Grow(1024)) return false;
    Take(Trie::kRoot, kNoParent);
    std::vector<Node> stack;
    if (!entries_.empty() && !TryPushBack(&stack, {Trie::kRoot, 0, entries_.size(), 0})) return false;
    while (!stack.empty()) {
      const Node node = stack.back();
      stack.pop_back();
      if (!Place(node, &stack)) return false;
    }
    return Finish();
  }

 private:
  // A node of the trie: the entries [begin, end) share their first `depth` bytes, which lead to unit `state`.
  struct Node {
    int32_t state;
    size_t begin, end;
    size_t depth;
  };

  static constexpr int32_t kNoUnit = -1;
  static constexpr int32_t kNoParent = -2;  // the root does not have a parent
  static constexpr int kTries = 12;         // number of free positions to try before the array grows

  [[nodiscard]] bool Place(Node node, std::vector<Node>* stack) {
    if (entries_[node.begin].first.size() == node.depth) {
      units_[static_cast<size_t>(node.state)].value = entries_[node.begin].second;
      if (++node.begin == node.end) return true;
    }
    labels_.clear();
    starts_.clear();
    for (size_t i = node.begin; i < node.end; ++i) {
      const auto label = static_cast<unsigned char>(entries_[i].first[node.depth]);
      if (!labels_.empty() && labels_.back() == label) continue;
      labels_.push_back(label);
      starts_.push_back(i);
    }
    starts_.push_back(node.end);
    const int32_t base = FindBase();
    if (base < 0) return false;
    units_[static_cast<size_t>(node.state)].base = base;
    for (size_t i = 0; i < labels_.size(); ++i) {
      Take(base + labels_[i], node.state);
      if (!TryPushBack(stack, {base + labels_[i], starts_[i], starts_[i + 1], node.depth + 1})) return false;
    }
    return true;
  }

  int32_t FindBase() {
    int32_t unit = first_free_;
    for (int tries = 0; unit != kNoUnit && tries < kTries; ++tries) {
      const int32_t base = unit - labels_[0];
      if (base >= 0 && Fits(base)) return base;
      unit = next_free_[static_cast<size_t>(unit)];
      if (unit == first_free_) break;
    }
    while (true) {
      const auto size = static_cast<int32_t>(units_.size());
      int32_t base = std::max(0, end_ - labels_[0]);
      if (base + 256 < size) {
        while (!Fits(base)) ++base;
        return base;
      }
      if (!Grow(units_.size() * 2)) return -1;
    }
  }

  bool Fits(int32_t base) const {
    for (const int32_t label : labels_) {
      const auto unit = static_cast<size_t>(base + label);
      if (unit >= units_.size() || units_[unit].parent != Trie::kNone) return false;
    }
    return true;
  }

  void Take(int32_t unit, int32_t parent) {
    const auto i = static_cast<size_t>(unit);
    units_[i].parent = parent;
    end_ = std::max(end_, unit + 1);
    if (next_free_[i] == unit) {
      first_free_ = kNoUnit;
      return;
    }
    next_free_[static_cast<size_t>(previous_free_[i])] = next_free_[i];
    previous_free_[static_cast<size_t>(next_free_[i])] = previous_free_[i];
    if (first_free_ == unit) first_free_ = next_free_[i];
  }

  [[nodiscard]] bool Grow(size_t size) {
    const size_t old = units_.size();
    if (!TryResize(&units_, size) || !TryResize(&next_free_, size) || !TryResize(&previous_free_, size)) return false;
    for (size_t i = old; i < size; ++i) {
      next_free_[i] = static_cast<int32_t>(i + 1);
      previous_free_[i] = static_cast<int32_t>(i) - 1;
    }
    const auto first_new = static_cast<int32_t>(old), last_new = static_cast<int32_t>(size - 1);
    if (first_free_ == kNoUnit) first_free_ = first_new;
    const int32_t last_free = first_free_ == first_new ? last_new : previous_free_[static_cast<size_t>(first_free_)];
    if (first_free_ != first_new) {
      next_free_[static_cast<size_t>(last_free)] = first_new;
      previous_free_[old] = last_free;
    }
    next_free_[size - 1] = first_free_;
    previous_free_[static_cast<size_t>(first_free_)] = last_new;
    return true;
  }

  [[nodiscard]] bool Finish() {
    // Copies to a vector of the exact size, because shrink_to_fit may do nothing in builds without exceptions.
    std::vector<Trie::Unit> exact;
    if (!TryResize(&exact, static_cast<size_t>(end_) + 256)) return false;
    std::copy_n(units_.begin(), std::min(units_.size(), exact.size()), exact.begin());
    units_ = std::move(exact);
    return true;
  }

  const Entries& entries_;
  std::vector<Trie::Unit>& units_;
  std::vector<int32_t> next_free_, previous_free_;
  std::vector<int32_t> labels_;
  std::vector<size_t> starts_;
  int32_t first_free_ = kNoUnit;
  int32_t end_ = 0;
};

namespace {

uint64_t SortPart(std::string_view key, size_t begin) {
  uint64_t part = 0;
  for (size_t i = begin; i < begin + 8; ++i)
    part = part << 8 | (i < key.size() ? static_cast<unsigned char>(key[i]) : 0);
  return part;
}

// An entry with its first sixteen bytes as integers, which avoids most string comparisons.
struct SortItem {
  uint64_t first, second;
  uint32_t index;
};

}  // namespace

Result<Trie> Trie::Create(const Entries& entries) {
  const auto no_memory = [] { return OutOfMemory("no memory for a vocabulary's trie"); };
  if (entries.empty()) return Trie();
  std::vector<SortItem> order;
  if (!TryResize(&order, entries.size())) return no_memory();
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::string_view key = entries[i].first;
    order[i] = {SortPart(key, 0), SortPart(key, 8), static_cast<uint32_t>(i)};
  }
  const auto is_before = [&](const SortItem& a, const SortItem& b) {
    if (a.first != b.first) return a.first < b.first;
    if (a.second != b.second) return a.second < b.second;
    const int compared = entries[a.index].first.compare(entries[b.index].first);
    return compared != 0 ? compared < 0 : a.index < b.index;
  };
  if (!MergeSort(&order, is_before)) return no_memory();
  Entries sorted;
  if (!TryReserve(&sorted, entries.size())) return no_memory();
  for (const SortItem& item : order) {
    if (!sorted.empty() && sorted.back().first == entries[item.index].first)
      sorted.back() = entries[item.index];
    else
      sorted.push_back(entries[item.index]);
  }
  Trie trie;
  if (!TrieBuilder(sorted, &trie.units_).Build()) return no_memory();
  trie.first_ = trie.units_.data();
  return trie;
}

}  // namespace peruse::text

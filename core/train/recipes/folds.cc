#include "core/train/recipes/folds.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "core/train/memory/random_stream.h"

namespace peruse::train {
namespace {

struct Less {
  bool operator()(std::span<const int32_t> a, std::span<const int32_t> b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  }
};

// Returns the label by which examples are distributed evenly. For tokens it is the largest label, so that texts without entities form a
// group; for answers, whether the context has one.
int32_t LabelOf(const Example& example) {
  const std::vector<int32_t>& labels = example.labels;
  if (labels.size() == 1) return labels[0];
  if (!labels.empty() && labels.size() == example.ids.size()) return *std::max_element(labels.begin(), labels.end());
  if (!labels.empty()) return labels[0] > 0 ? 1 : 0;
  if (example.targets.empty()) return 0;
  const auto largest = std::max_element(example.targets.begin(), example.targets.end());
  return static_cast<int32_t>(largest - example.targets.begin());
}

// Groups examples with equal ids, lists groups by the label of their first example, and shuffles within a label by the seed.
std::vector<std::vector<size_t>> GroupsOf(std::span<const Example> examples, uint64_t seed) {
  std::vector<size_t> order(examples.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  RandomStream(seed, Purpose::kFolds).Shuffle(std::span(order), /*draw=*/0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return LabelOf(examples[a]) < LabelOf(examples[b]); });
  std::map<std::span<const int32_t>, size_t, Less> known;
  std::vector<std::vector<size_t>> groups;
  std::map<int64_t, size_t> known_numbers;
  for (const size_t i : order) {
    const Example& example = examples[i];
    const auto windows = known_numbers.find(example.number);
    const bool of_known = example.number >= 0 && windows != known_numbers.end();
    const size_t group = known.emplace(example.ids, of_known ? windows->second : groups.size()).first->second;
    if (group == groups.size()) groups.emplace_back();
    if (example.number >= 0) known_numbers.emplace(example.number, group);
    groups[group].push_back(i);
  }
  return groups;
}

}  // namespace

std::vector<int32_t> FoldsOf(std::span<const Example> examples, int32_t count, uint64_t seed) {
  std::vector<int32_t> folds(examples.size());
  // a label starts with the fold after the preceding label's last one, which keeps folds equally large
  int32_t next = 0;
  for (const std::vector<size_t>& group : GroupsOf(examples, seed)) {
    for (const size_t i : group) folds[i] = next;
    next = (next + 1) % count;
  }
  return folds;
}

int32_t FoldCount(size_t examples) {
  constexpr size_t kFew = 30;
  return static_cast<int32_t>(std::min<size_t>(std::max<size_t>(examples, 1), examples < kFew ? 10 : 5));
}

std::vector<bool> HeldOut(std::span<const Example> examples, double share, uint64_t seed) {
  std::map<int32_t, int64_t> groups_left;  // number of groups that are left, by label
  const std::vector<std::vector<size_t>> groups = GroupsOf(examples, seed);
  for (const std::vector<size_t>& group : groups) ++groups_left[LabelOf(examples[group[0]])];
  std::vector<bool> held_out(examples.size(), false);
  double due = 0.5;  // the next example is held out when this reaches 1
  int32_t label = -1;
  for (const std::vector<size_t>& group : groups) {
    const int32_t own = LabelOf(examples[group[0]]);
    if (own != label) due = std::max(due, 0.0);  // a label with a large group leaves the share of the next one whole
    label = own;
    due += share * static_cast<double>(group.size());
    int64_t& left = groups_left[own];
    if (due < 1 || left < 2) continue;
    for (const size_t i : group) held_out[i] = true;
    due -= static_cast<double>(group.size());
    --left;
  }
  return held_out;
}

}  // namespace peruse::train

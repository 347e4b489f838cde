#include "core/tasks/bioes_path.h"

#include <algorithm>
#include <string_view>

namespace peruse {
namespace {

bool Continues(std::string_view label) { return label[0] == 'I' || label[0] == 'E'; }
bool IsOpen(std::string_view label) { return label[0] == 'B' || label[0] == 'I'; }

float Step(std::string_view from, std::string_view to, const PathBiases& biases) {
  if (IsOpen(from) != Continues(to)) return kIllegalStep;
  const bool is_o = to[0] == 'O';
  if (!IsOpen(from)) {
    if (from[0] == 'O') return is_o ? biases.background_stay : biases.background_to_start;
    return is_o ? biases.end_to_background : biases.end_to_start;
  }
  if (from.substr(1) != to.substr(1)) return kIllegalStep;
  return to[0] == 'I' ? biases.inside_to_continue : biases.inside_to_end;
}

}  // namespace

std::vector<size_t> BestPath(std::span<const std::vector<float>> scores, std::span<const std::string> labels,
                             const PathBiases& biases) {
  const size_t count = labels.size(), tokens = scores.size();
  std::vector<size_t> from(tokens * count);  // the label before label l of token t
  std::vector<float> sums(count), next(count);
  for (size_t t = 0; t < tokens; ++t) {
    for (size_t l = 0; l < count; ++l) {
      next[l] = t == 0 && Continues(labels[l]) ? kIllegalStep : 0;
      for (size_t k = 0; t > 0 && k < count; ++k) {
        const float sum = sums[k] + Step(labels[k], labels[l], biases);
        if (k > 0 && sum <= next[l]) continue;
        next[l] = sum;
        from[t * count + l] = k;
      }
      next[l] += scores[t][l];
    }
    sums.swap(next);
  }
  for (size_t l = 0; l < count; ++l) {
    if (IsOpen(labels[l])) sums[l] += kIllegalStep;
  }
  std::vector<size_t> path(tokens);
  path.back() = static_cast<size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
  for (size_t t = tokens - 1; t > 0; --t) path[t - 1] = from[t * count + path[t]];
  return path;
}

}  // namespace peruse
